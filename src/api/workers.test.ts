/** The routes of workers, over HTTP, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import type { ErrorBody } from '../protocol/views/requests.ts';
import type { WorkerView } from '../protocol/views/workers.ts';

let controller: InProcessController;

beforeEach(async () => {
  controller = await startController();
});

afterEach(() => controller.close());

async function post(path: string, body?: object): Promise<[status: number, answer: WorkerView & ErrorBody]> {
  const { url, token } = controller.access;
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/v1/workers/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...content },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [response.status, (await response.json()) as WorkerView & ErrorBody];
}

describe('a worker', () => {
  it('is answered as it is after what was asked for', async () => {
    expect(await post('k1/drain')).toMatchObject([200, { id: 'k1', bar: 'drained', reason: 'by command' }]);
    const [status, view] = await post('k1/release');
    expect([status, view.bar, view.reason]).toEqual([200, undefined, undefined]);
    expect(await post('k1/slots', { slots: 2 })).toMatchObject([200, { id: 'k1' }]);
    expect(await post('k1/stop', { now: false })).toMatchObject([200, { id: 'k1', bar: 'stopping' }]);
  });

  it.each([
    ['k2/drain', undefined],
    ['k0/release', undefined],
    ['w1/release', undefined],
    ['k99999999999/stop', { now: true }],
    ['K1/slots', { slots: 1 }],
  ])('that is none gets 404: %s', async (path, body) => {
    expect(await post(path, body)).toMatchObject([404, { error: { code: 'worker-unknown' } }]);
  });

  it('that is gone gets 404, and why it is gone', async () => {
    await post('k1/stop', { now: true });
    const [, answer] = await eventually(async () => {
      const refused = await post('k1/drain');
      expect(refused[0]).toBe(404);
      return refused;
    });
    expect(answer.error).toMatchObject({ code: 'worker-unknown', message: 'k1 is gone: it ended by itself' });
  });

  it.each([
    ['k1/stop', undefined],
    ['k1/stop', { now: 'yes' }],
    ['k1/slots', {}],
    ['k1/slots', { slots: 0 }],
    ['k1/slots', { slots: 4_097 }],
    ['k1/slots', { slots: 1.5 }],
  ])('refuses with 400 what is no request: %s %j', async (path, body) => {
    expect(await post(path, body)).toMatchObject([400, { error: { code: 'bad-input' } }]);
  });
});
