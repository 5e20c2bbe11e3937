#!/usr/bin/env node
// SPDX-License-Identifier: GPL-2.0-only
//
// Asks Perfetto's trace processor, as WebAssembly, questions about a trace.
//
//   trace_processor.mjs ENGINE.wasm TRACE QUERIES
//
// QUERIES is a file of SQL: a line `-- name` begins each query. Prints a line for each row, its query's name and its
// columns with | between, NULL as nothing. The name `defects` gives, whatever its SQL, the statistics of the import
// that speak of errors and lost data. Exit status 0, or 1 and why.
//
// The engine is spoken to as its UI does: messages (protocol buffers) in a stream to it, and back through a callback.
import fs from 'node:fs';
import v8 from 'node:v8';

const PIECE = 16 << 20; // bytes given to the engine at a time
const SMALL_TRACE = 1 << 20; // takes less time than making the engine's code fast

// ---- protocol buffers, as much as is needed ----

function putVarint(out, number) {
  for (; number >= 128; number = Math.floor(number / 128)) out.push((number % 128) | 128);
  out.push(number);
}

// A message of fields [number, integer or bytes].
function encode(...fields) {
  const parts = [];
  for (const [field, value] of fields) {
    const head = [];
    putVarint(head, field * 8 + (typeof value === 'number' ? 0 : 2));
    putVarint(head, typeof value === 'number' ? value : value.length);
    parts.push(Buffer.from(head));
    if (typeof value !== 'number') parts.push(value);
  }
  return Buffer.concat(parts);
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get more() { return this.at < this.bytes.length; }
  varint() {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  }
  take(size) {
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
}

// The fields of a message by number, each with all its values.
function decode(bytes) {
  const reader = new Reader(bytes), fields = new Map();
  while (reader.more) {
    const tag = Number(reader.varint()), wire = tag & 7;
    const value = wire === 0 ? reader.varint() : wire === 1 ? reader.take(8) : wire === 5 ? reader.take(4)
      : reader.take(Number(reader.varint()));
    const number = Math.floor(tag / 8);
    if (!fields.has(number)) fields.set(number, []);
    fields.get(number).push(value);
  }
  return fields;
}

const textOf = bytes => Buffer.from(bytes ?? []).toString();

// ---- the engine ----

// What the engine wants of its host: a clock, more memory, somewhere to complain to. Nothing else is answered.
function makeHost(engine) {
  const MAX_MEMORY = 65535 * 65536;
  const view = () => new DataView(engine.memory.buffer);
  return {
    emscripten_get_now: () => performance.now(),
    emscripten_date_now: () => Date.now(),
    emscripten_get_heap_max: () => MAX_MEMORY,
    emscripten_resize_heap(wanted) {
      const now = engine.memory.buffer.byteLength;
      const size = Math.min(MAX_MEMORY, Math.max(wanted >>> 0, Math.floor(now * 1.2)));
      try { return engine.memory.grow(Math.ceil((size - now) / 65536)) >= 0 ? 1 : 0; } catch { return 0; }
    },
    clock_time_get(id, precision, out) {
      view().setBigUint64(out >>> 0, process.hrtime.bigint(), true);
      return 0;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count >>> 0, 0, true);
      view().setUint32(size >>> 0, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_close: () => 0,
    fd_write(fd, vectors, count, out) {
      let total = 0;
      for (let i = 0; i < count; i++) {
        const at = view().getUint32((vectors >>> 0) + 8 * i, true), size = view().getUint32((vectors >>> 0) + 8 * i + 4,
          true);
        engine.said += Buffer.from(engine.memory.buffer, at, size).toString();
        total += size;
      }
      view().setUint32(out >>> 0, total, true);
      return 0;
    },
  };
}

// A function of JavaScript as one that the engine can call by its table: a module of 32 bytes that imports (i32, i32)
// and exports it.
function wrap(callback) {
  const bytes = Buffer.from('0061736d010000000106016002' + '7f7f00' + '020701016101620000' + '0705010163' + '0000',
    'hex');
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { a: { b: callback } }).exports.c;
}

class Engine {
  constructor(path) {
    const module = new WebAssembly.Module(fs.readFileSync(path)), host = makeHost(this), imports = {};
    this.said = '';
    this.sequence = 0;
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = host[name] ?? (() => this.refuse(name));
    }
    this.exports = new WebAssembly.Instance(module, imports).exports;
    this.memory = this.exports.memory;
    this.exports.emscripten_stack_init?.();
    this.exports.__wasm_call_ctors();
    const table = this.exports.__indirect_function_table, slot = table.length;
    table.grow(1);
    table.set(slot, wrap((at, size) => this.replies.push(Buffer.from(this.memory.buffer.slice(at >>> 0, (at >>> 0)
      + size)))));
    this.buffer = this.exports.trace_processor_rpc_init(slot, PIECE) >>> 0;
  }
  refuse(name) {
    if (/abort|exit|assert|throw/.test(name)) throw new Error(`the engine failed (${name}): ${this.said.slice(-2000)}`);
    return -52; // ENOSYS
  }
  // Sends one request and gives the fields of each reply.
  call(method, ...args) {
    const stream = encode([1, encode([1, this.sequence++], [2, method], ...args)]);
    this.replies = [];
    for (let at = 0; at < stream.length; at += PIECE) {
      const piece = stream.subarray(at, at + PIECE);
      new Uint8Array(this.memory.buffer).set(piece, this.buffer);
      this.exports.trace_processor_on_rpc_request(piece.length);
    }
    return (decode(Buffer.concat(this.replies)).get(1) ?? []).map(reply => {
      const fields = decode(reply);
      if (textOf(fields.get(5)?.[0])) throw new Error(textOf(fields.get(5)[0]));
      return fields;
    });
  }
  load(path) {
    const file = fs.openSync(path), buffer = Buffer.alloc(PIECE - 64);
    for (let size; (size = fs.readSync(file, buffer)) > 0;) {
      const [reply] = this.call(1, [101, buffer.subarray(0, size)]);
      this.must(reply.get(201), 2);
    }
    fs.closeSync(file);
    const [reply] = this.call(2);
    this.must(reply.get(212), 1);
  }
  must(result, field) {
    const error = result && textOf(decode(result[0]).get(field)?.[0]);
    if (error) throw new Error(error);
  }
  // Rows, each an array of texts; NULL is ''.
  query(sql) {
    let columns = 0, row = [];
    const rows = [];
    for (const reply of this.call(3, [103, encode([1, Buffer.from(sql)])])) {
      for (const result of (reply.get(203) ?? []).map(decode)) {
        if (textOf(result.get(2)?.[0])) throw new Error(`${textOf(result.get(2)[0])}\n${sql}`);
        columns += (result.get(1) ?? []).length;
        for (const cell of (result.get(3) ?? []).flatMap(batch => [...cells(batch)])) {
          row.push(cell);
          if (row.length === columns) rows.push(row), row = [];
        }
      }
    }
    return rows;
  }
}

// A batch holds the kind of each cell, and the values of each kind one after the other.
function* cells(bytes) {
  const batch = decode(bytes);
  const integers = new Reader(batch.get(2)?.[0] ?? Buffer.alloc(0)), doubles = batch.get(3)?.[0];
  const texts = textOf(batch.get(5)?.[0]).split('\0');
  let text = 0, number = 0;
  for (const kind of batch.get(1)?.[0] ?? []) {
    if (kind === 1) yield '';
    else if (kind === 2) yield String(BigInt.asIntN(64, integers.varint()));
    else if (kind === 3) yield String(Buffer.from(doubles).readDoubleLE(8 * number++));
    else if (kind === 4) yield texts[text++];
    else throw new Error('a cell is of a kind that this program does not know');
  }
}

// ---- the questions ----

const DEFECTS = `SELECT name, coalesce(idx, ''), severity, value FROM stats
  WHERE value > 0 AND (severity IN ('error', 'data_loss') OR name IN ('compact_sched_switch_skipped',
    'compact_sched_waking_skipped',
  'track_event_tokenizer_errors', 'track_event_parser_errors', 'tokenizer_skipped_packets'))`;

function readQueries(path) {
  const queries = [];
  for (const line of fs.readFileSync(path, 'utf8').split('\n')) {
    const name = /^-- ([a-z_]+)$/.exec(line);
    if (name) queries.push({ name: name[1], sql: '' });
    else if (queries.length) queries.at(-1).sql += `${line}\n`;
  }
  return queries;
}

const [wasm, trace, questions] = process.argv.slice(2);
if (!questions) {
  console.error('usage: trace_processor.mjs ENGINE.wasm TRACE QUERIES');
  process.exit(2);
}
try {
  if (fs.statSync(trace).size < SMALL_TRACE) v8.setFlagsFromString('--liftoff-only');
  const engine = new Engine(wasm);
  engine.load(trace);
  for (const { name, sql } of readQueries(questions)) {
    for (const row of engine.query(name === 'defects' ? DEFECTS : sql)) console.log([name, ...row].join('|'));
  }
} catch (error) {
  console.error(`trace_processor.mjs: ${trace}: ${error.message}`);
  process.exit(1);
}
