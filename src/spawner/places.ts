/**
 * Places in which processes begin, as libc wants them. The tasks of a slot have the same descriptors, and mostly the same
 * directory: what was prepared for one serves the next.
 *
 * Owns the prepared places. Invariant: at most one per descriptor of stdout, so that there are no more than descriptors.
 */
import type { Libc, PreparedPlace } from '../platform/node/libc.ts';
import { CStrings } from './c-strings.ts';

export type Place = {
  readonly cwd: string;
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
};

type Known = Place & { readonly prepared: PreparedPlace };

export class SpawnPlaces {
  private readonly libc: Libc;
  private readonly text: CStrings;
  private readonly byStdout = new Map<number, Known>();

  constructor(libc: Libc) {
    this.libc = libc;
    this.text = new CStrings(libc.addressOf);
  }

  /** Or the errno. */
  find(place: Place): PreparedPlace | number {
    const { cwd, stdin, stdout, stderr } = place;
    const known = this.byStdout.get(stdout);
    if (known?.stderr === stderr && known.stdin === stdin && known.cwd === cwd) return known.prepared;
    if (known) this.libc.releasePlace(known.prepared);
    this.byStdout.delete(stdout);
    this.text.reserve(cwd.length + 1, 0);
    const prepared = this.libc.preparePlace({ cwd: this.text.addString(cwd), stdin, stdout, stderr });
    if (typeof prepared !== 'number') this.byStdout.set(stdout, { cwd, stdin, stdout, stderr, prepared });
    return prepared;
  }
}
