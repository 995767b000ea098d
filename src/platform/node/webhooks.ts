/**
 * Posts to addresses that whoever submits a workflow has chosen, from where the controller is: it must not lend them its
 * place in the network. Which address a name stands for is looked at when the connection is made, so that a name can't
 * mean one address when it is checked and another when it is used.
 */
import { lookup } from 'node:dns';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import type { WebhookCall, Webhooks } from '../env.ts';

export interface WebhookOptions {
  /** Where only people of this machine submit, they may also reach what listens on it. */
  readonly mayReachLoopback: boolean;
}

/** The services of clouds by which a machine learns its own secrets, and what stands for no machine at all. */
function forbidden({ mayReachLoopback }: WebhookOptions): BlockList {
  const list = new BlockList();
  list.addSubnet('0.0.0.0', 8, 'ipv4');
  list.addSubnet('169.254.0.0', 16, 'ipv4');
  list.addSubnet('224.0.0.0', 3, 'ipv4');
  list.addAddress('100.100.100.200', 'ipv4');
  list.addAddress('::', 'ipv6');
  list.addSubnet('fe80::', 10, 'ipv6');
  list.addSubnet('ff00::', 8, 'ipv6');
  list.addAddress('fd00:ec2::254', 'ipv6');
  if (mayReachLoopback) return list;
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  return list;
}

export function makeWebhooks(options: WebhookOptions): Webhooks {
  const list = forbidden(options);
  // An IPv4 address that is written as one of IPv6 is checked as what it is by the list itself.
  const isForbidden = (address: string): boolean => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return { post: (call) => post(call, isForbidden) };
}

type Check = (address: string) => boolean;

function post({ url, headers, body, msMax }: WebhookCall, isForbidden: Check): ReturnType<Webhooks['post']> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => resolve({ error: error instanceof Error ? error.message : String(error) });
    try {
      const { protocol, hostname } = new URL(url);
      const host = hostname.replace(/^\[|\]$/g, '');
      // No name is looked up for what is an address already.
      if (isIP(host) > 0 && isForbidden(host)) return fail(refusal(host));
      const ask = protocol === 'https:' ? requestTls : request;
      const signal = AbortSignal.timeout(msMax);
      const call = ask(
        url,
        { method: 'POST', headers, lookup: checked(isForbidden), agent: false, signal },
        (answer) => {
          answer.destroy();
          resolve({ status: answer.statusCode ?? 0 });
        },
      );
      call.on('error', (error) => fail(signal.aborted ? `no answer within ${msMax} ms` : error));
      call.end(body);
    } catch (error) {
      fail(error);
    }
  });
}

const refusal = (address: string): Error => new Error(`${address} is not an address that webhooks may reach`);

const checked =
  (isForbidden: Check): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      const bad = addresses.find(({ address }) => isForbidden(address));
      if (bad !== undefined) return callback(refusal(bad.address), '');
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? '', first?.family ?? 4);
    });
