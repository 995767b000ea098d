import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as listenMutely, type Server as MuteServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../model/errors.ts';
import { acceptLinks, webSocketNet } from './sockets.ts';

let server: Server;
let url: string;
let received: string[];
let troubles: string[];

beforeEach(async () => {
  received = [];
  troubles = [];
  server = createServer();
  acceptLinks(server, {
    admit: ({ path, authorization }) =>
      path === '/x' && authorization === 'Bearer right'
        ? (link) => ({
            onText: (text) => {
              received.push(text);
              link.send(`echo ${text}`);
            },
            onClose: (why) => received.push(`closed: ${why}`),
          })
        : { error: new DroverError('not-authorised', 'no') },
    onTrouble: (_, message) => troubles.push(message),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** What a connection says until it ends, as one line each. */
function talk(token: string, first: string): Promise<string[]> {
  return new Promise((resolve) => {
    const said: string[] = [];
    const link = webSocketNet.connect(
      { url, token },
      {
        onOpen: () => link.send(first),
        onText: (text) => {
          said.push(text);
          link.close('enough');
        },
        onClose: (why) => resolve([...said, why]),
      },
    );
  });
}

describe('links over WebSocket', () => {
  it('carry texts both ways, and both ends hear of the end', async () => {
    expect(await talk('right', 'hello')).toEqual(['echo hello', 'the connection was closed']);
    expect(received[0]).toBe('hello');
  });

  it('with a wrong token are refused, and the one who tried hears why', async () => {
    const [why] = await talk('wrong', 'hello');
    expect(why).toContain('401');
    expect([received, troubles]).toEqual([[], ['a link was refused']]);
  });

  it('that are refused and reset by the peer do no harm to the server', async () => {
    const { port } = server.address() as AddressInfo;
    for (let round = 0; round < 20; round++) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write('GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
          socket.resetAndDestroy();
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
    }
    expect(await talk('right', 'still there?')).toContain('echo still there?');
  });

  it('that a peer takes and never opens are given up, and harm nobody', async () => {
    const mute = createMuteServer();
    await once(mute, 'listening');
    url = `ws://127.0.0.1:${(mute.address() as AddressInfo).port}/x`;
    expect(await talk('right', 'anybody?')).toEqual(['Opening handshake has timed out']);
    mute.close();
  });
});

/** A machine that is reached while its program is stopped, or cut off in this moment. */
const createMuteServer = (): MuteServer =>
  listenMutely((peer) => peer.on('error', () => {}).resume()).listen(0, '127.0.0.1');
