// SPDX-License-Identifier: GPL-2.0-only
//
// The protocol's official clients with `nettape-report mcp`: each connects, lists the tools, calls them, and is told
// what it did wrong. They check every answer by the protocol's schemas, and the list by JSON Schema.
//
//   node clients.mjs NODE_MODULES_PARENT PROGRAM TAPE      one line for each client; exit status 0: all is well
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [place, program, tape] = process.argv.slice(2);
const require = createRequire(join(place, 'package.json'));
const load = name => import(pathToFileURL(require.resolve(name)));

const FOREVER = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
const who = { name: 'nettape-test', version: '1' };
const text = result => result.content.map(part => part.text).join('\n');

async function use(client, options) {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(tool => tool.name),
        ['summary', 'worst_windows', 'stages', 'latency', 'payers', 'info', 'schema', 'query']);
    assert.match(client.getInstructions(), /Begin with summary/);
    for (const name of ['summary', 'worst_windows', 'stages', 'latency', 'info', 'schema']) {
        const result = await client.callTool({ name, arguments: {} });
        assert.ok(!result.isError && text(result).length > 200, `${name}: ${text(result)}`);
    }
    const sql = 'SELECT cpu, sum(dur) AS ns FROM cpu_slice GROUP BY cpu ORDER BY cpu';
    const answer = JSON.parse(text(await client.callTool({ name: 'query', arguments: { sql } })));
    assert.deepEqual(answer.columns, ['cpu', 'ns']);
    assert.equal(new Set(answer.rows.map(row => row[1])).size, 1, 'each CPU has all of the time');
    const wrong = await client.callTool({ name: 'summary', arguments: { form: '1s' } });
    assert.ok(wrong.isError);
    assert.match(text(wrong), /did you mean 'from'/);
    await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), /no tool 'nothing'/);
    // Cancelled: what follows is answered.
    const stop = new AbortController();
    const call = { name: 'query', arguments: { sql: FOREVER } };
    const endless = client.callTool(call, ...options, { signal: stop.signal });
    setTimeout(() => stop.abort(), 100);
    await assert.rejects(endless);
    assert.ok(!(await client.callTool({ name: 'schema', arguments: { of: 'process' } })).isError);
}

async function test(what, Client, Transport, settings, options) {
    const transport = new Transport({ command: program, args: ['mcp', tape, '--timeout', '3600'], stderr: 'inherit' });
    const client = new Client(who, settings);
    await client.connect(transport);
    assert.equal(client.getServerVersion().name, 'nettape');
    await use(client, options);
    await client.close();
    console.log(`${what}: all is well`);
}

const sdk = await load('@modelcontextprotocol/sdk/client/index.js');
const sdkStdio = await load('@modelcontextprotocol/sdk/client/stdio.js');
await test('sdk', sdk.Client, sdkStdio.StdioClientTransport, {}, [undefined]);
const client = await load('@modelcontextprotocol/client');
const clientStdio = await load('@modelcontextprotocol/client/stdio');
await test('client', client.Client, clientStdio.StdioClientTransport, {}, []);
await test('client, 2026-07-28', client.Client, clientStdio.StdioClientTransport,
    { versionNegotiation: { mode: { pin: '2026-07-28' } } }, []);
await test('client, either', client.Client, clientStdio.StdioClientTransport,
    { versionNegotiation: { mode: 'auto' } }, []);
