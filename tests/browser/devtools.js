// SPDX-License-Identifier: GPL-2.0-only
//
// devtools.js - a headless Chromium to be driven by a test: the DevTools protocol over two pipes, so that it takes
// nothing but Node itself. Everything the page logs, throws or asks the network for is kept in `troubles` and
// `requests`.
'use strict';

const {spawn} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const KEYS = {
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Home: 36,
  End: 35,
  Escape: 27,
  Backspace: 8,
  Tab: 9,
  Enter: 13,
};

class Browser {
  constructor(program, more = []) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), 'nettape-browser-'));
    const flags = [
      '--headless=new',
      '--remote-debugging-pipe',
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-proxy-server',
      '--force-color-profile=srgb',
      `--user-data-dir=${this.profile}`,
      ...more,
    ];
    if (process.getuid() === 0) flags.push('--no-sandbox'); // it refuses to run as root with one
    this.process = spawn(program, [...flags, 'about:blank'], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.waiting = new Map();
    this.next = 1;
    this.troubles = [];
    this.requests = [];
    this.blocked = []; // why requests were never made
    this.listeners = [];
    let rest = '';
    this.process.stdio[4].setEncoding('utf8');
    this.process.stdio[4].on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      messages.forEach((message) => this.onMessage(JSON.parse(message)));
    });
    this.process.stdio[3].on('error', () => {});
    this.process.on('exit', () => this.waiting.forEach(({fail}) => fail(new Error('the browser has ended'))));
  }

  // The first page that there is.
  async open() {
    const {targetInfos} = await this.send('Target.getTargets', {}, null);
    const page = targetInfos.find((one) => one.type === 'page');
    this.session = (await this.send('Target.attachToTarget', {targetId: page.targetId, flatten: true}, null)).sessionId;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
    await this.send('Emulation.setFocusEmulationEnabled', {enabled: true});
  }

  send(method, params = {}, session = this.session) {
    const id = this.next++;
    const message = {id, method, params};
    if (session) message.sessionId = session;
    this.process.stdio[3].write(JSON.stringify(message) + '\0');
    return new Promise((done, fail) => this.waiting.set(id, {done, fail, method}));
  }

  onMessage({id, method, params, result, error}) {
    if (id) {
      const {done, fail, method: called} = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) fail(new Error(`${called}: ${error.message}`));
      else done(result);
      return;
    }
    if (method === 'Runtime.exceptionThrown')
      this.troubles.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled')
      this.troubles.push(`${params.type}: ${params.args.map((one) => one.value ?? one.description).join(' ')}`);
    if (method === 'Log.entryAdded')
      this.troubles.push(`${params.entry.level}: ${params.entry.text} ${params.entry.url || ''}`);
    if (method === 'Page.javascriptDialogOpening') this.troubles.push(`dialog: ${params.message}`);
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Network.loadingFailed' && params.blockedReason) this.blocked.push(`${params.blockedReason}`);
    this.listeners = this.listeners.filter((one) => one.method !== method || one.done(params));
  }

  event(method) {
    return new Promise((resolve) =>
      this.listeners.push({
        method,
        done: (params) => {
          resolve(params);
          return false;
        },
      }),
    );
  }

  async goto(url) {
    const loaded = this.event('Page.loadEventFired');
    await this.send('Page.navigate', {url});
    await loaded;
    await this.settle();
  }

  // Two frames: what was changed is drawn.
  async settle() {
    await this.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }

  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  async resize(width, height, scale = 1) {
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: scale, mobile: false});
    await this.settle();
  }

  async dark(isDark) {
    await this.send('Emulation.setEmulatedMedia', {
      features: [{name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light'}],
    });
    await this.settle();
  }

  async mouse(type, x, y, buttons = 0) {
    await this.send('Input.dispatchMouseEvent', {
      type,
      x,
      y,
      buttons,
      button: type === 'mouseMoved' ? 'none' : 'left',
      clickCount: type === 'mouseMoved' ? 0 : 1,
    });
  }

  async hover(x, y) {
    await this.mouse('mouseMoved', x, y);
    await this.settle();
  }

  async drag(fromX, fromY, toX, toY) {
    await this.mouse('mouseMoved', fromX, fromY);
    await this.mouse('mousePressed', fromX, fromY, 1);
    for (let i = 1; i <= 5; i++)
      await this.mouse('mouseMoved', fromX + ((toX - fromX) * i) / 5, fromY + ((toY - fromY) * i) / 5, 1);
    await this.mouse('mouseReleased', toX, toY);
    await this.settle();
  }

  async click(x, y) {
    await this.drag(x, y, x, y);
  }

  async key(key, modifiers = 0) {
    const code = KEYS[key];
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const event = {
      key,
      code: code ? key : undefined,
      modifiers,
      windowsVirtualKeyCode: code || key.charCodeAt(0),
      ...(text ? {text} : {}),
    };
    await this.send('Input.dispatchKeyEvent', {type: text ? 'keyDown' : 'rawKeyDown', ...event});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...event, text: undefined});
    await this.settle();
  }

  // A picture of the page: its visible part, or all.
  async screenshot(file, isWhole = false) {
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', captureBeyondViewport: isWhole});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async pdf(file) {
    const {data} = await this.send('Page.printToPDF', {printBackground: false, preferCSSPageSize: false});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
    return Buffer.from(data, 'base64');
  }

  async close() {
    const ended = new Promise((done) => this.process.on('exit', done));
    this.send('Browser.close', {}, null).catch(() => {});
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
    fs.rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

module.exports = {Browser};
