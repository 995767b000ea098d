/** A client of the server whose access file that is. */
import { readAccessFile } from '../../src/platform/node/access-file.ts';
import { Client } from '../../src/sdk/client.ts';

export function clientOf(file: string): Client {
  const access = readAccessFile(file);
  if (access === undefined) throw new Error(`there is no access file ${file}`);
  return new Client({ url: access.url, token: access.tokens.admin });
}
