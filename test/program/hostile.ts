/** A real server with a real worker, and those who speak to its port as nobody should. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { AccessFile } from '../../src/platform/node/access-file.ts';
import { type Place, type Running, until } from './drover.ts';

export interface Victim {
  readonly server: Running;
  readonly access: AccessFile;
  /** What the server has used at most, so far. */
  peakBytes(): number;
  log(): string;
  /** Runs tasks beside whatever else goes on; they must end well, and soon. */
  works(): Promise<boolean>;
  /** A connection on which bytes are written; its end or what came on it is awaited by `closed`. */
  raw(bytes: string | Uint8Array): Visitor;
  webSocket(path: string, token?: string): WebSocket;
  stop(): Promise<void>;
}

export interface Visitor {
  readonly socket: Socket;
  /** All that came, when the server has closed the connection. */
  readonly closed: Promise<string>;
}

export async function startVictim(here: Place): Promise<Victim> {
  const server = here.start(['server', '--json']);
  await until('the server is ready', () => server.stdout().includes('\n'));
  const worker = here.start(['worker', '-j', '2']);
  const access = JSON.parse(readFileSync(join(here.path, '.drover/access.json'), 'utf8')) as AccessFile;
  const { hostname, port } = new URL(access.url);
  const open = new Set<{ destroy(): void }>();
  return {
    server,
    access,
    peakBytes: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'latin1'))?.[1]) * 1024,
    log: () => readFileSync(join(here.path, '.drover/logs/controller.log'), 'utf8'),
    works: async () => {
      const { code, stdout } = await here.run(['run', '--server', 'echo', ':::', 'a', 'b', 'c']);
      return code === 0 && stdout === 'a\nb\nc\n';
    },
    raw: (bytes) => {
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      let said = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      socket.on('error', () => {});
      open.add(socket);
      return { socket, closed: new Promise((done) => socket.once('close', () => done(said))) };
    },
    webSocket: (path, token = access.tokens.worker) => {
      const address = `${access.url.replace('http', 'ws')}${path}`;
      const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
      socket.on('error', () => {});
      open.add({ destroy: () => socket.terminate() });
      return socket;
    },
    stop: async () => {
      for (const one of open) one.destroy();
      for (const { child } of [worker, server]) child.kill('SIGTERM');
      await Promise.all([worker.ended, server.ended]);
    },
  };
}
