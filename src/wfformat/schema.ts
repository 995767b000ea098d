/**
 * WfFormat 1.5, the format of the WfCommons project for workflows and how they ran: one schema for what is read and what is
 * written. What it does not name may be there, and is not read.
 */
import { type Static, Type } from 'typebox';
import { nameBytesMax } from '../model/limits.ts';

export const schemaVersion = '1.5';

const text = Type.String({ minLength: 1 });
const amount = Type.Number({ minimum: 0 });
/** As references have to be, by the schema of the format. */
export const idPattern = /^[0-9a-zA-Z\-_.]+$/;
const id = Type.String({ minLength: 1, maxLength: nameBytesMax });
const ids = Type.Array(id);

export const SpecifiedTask = Type.Object({
  name: text,
  id,
  parents: ids,
  children: ids,
  inputFiles: Type.Optional(Type.Array(text)),
  outputFiles: Type.Optional(Type.Array(text)),
});
export type SpecifiedTask = Static<typeof SpecifiedTask>;

const File = Type.Object({ id: text, sizeInBytes: amount });

export const ExecutedTask = Type.Object({
  id,
  runtimeInSeconds: amount,
  executedAt: Type.Optional(text),
  command: Type.Optional(
    Type.Object({
      program: Type.Optional(Type.String()),
      arguments: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  coreCount: Type.Optional(amount),
  avgCPU: Type.Optional(amount),
  readBytes: Type.Optional(amount),
  writtenBytes: Type.Optional(amount),
  memoryInBytes: Type.Optional(amount),
  priority: Type.Optional(Type.Number()),
  machines: Type.Optional(Type.Array(text)),
});
export type ExecutedTask = Static<typeof ExecutedTask>;

const Machine = Type.Object({
  nodeName: text,
  system: Type.Optional(text),
  architecture: Type.Optional(text),
  release: Type.Optional(text),
  memoryInBytes: Type.Optional(amount),
  cpu: Type.Optional(
    Type.Object({
      coreCount: Type.Optional(amount),
      speedInMHz: Type.Optional(amount),
      vendor: Type.Optional(text),
    }),
  ),
});

const Execution = Type.Object({
  makespanInSeconds: amount,
  executedAt: text,
  tasks: Type.Array(ExecutedTask, { minItems: 1 }),
  machines: Type.Optional(Type.Array(Machine, { minItems: 1 })),
});

export const Instance = Type.Object({
  name: text,
  description: Type.Optional(text),
  createdAt: Type.Optional(text),
  schemaVersion: Type.Literal(schemaVersion),
  runtimeSystem: Type.Optional(Type.Object({ name: text, version: Type.Optional(text), url: Type.Optional(text) })),
  workflow: Type.Object({
    specification: Type.Object({
      tasks: Type.Array(SpecifiedTask, { minItems: 1 }),
      files: Type.Optional(Type.Array(File)),
    }),
    execution: Type.Optional(Execution),
  }),
});
export type Instance = Static<typeof Instance>;
