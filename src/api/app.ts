/** The HTTP application that the routes are put on, and what they need. */

import { Type, type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox';
import { type FastifyServerFactory, fastify } from 'fastify';
import type { ControllerShell } from '../controller/shell.ts';
import { steeringBodyBytesMax } from '../model/limits.ts';
import type { CompilePattern, LoopMeter } from '../platform/env.ts';
import type { ServerView } from '../protocol/views/server.ts';
import './fastify.ts';
import type { Attendance } from './attendance.ts';
import { answerBroken, asDroverError, bodyOf } from './errors.ts';
import type { EventStreams } from './events/streams.ts';
import type { Gate, Identity } from './gate.ts';
import { mediaConstraint } from './media.ts';
import { refusalOf } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks. Of one who may remain unknown it is not set. */
    identity: Identity;
  }
}

export interface ApiOptions {
  readonly shell: ControllerShell;
  readonly gate: Gate;
  readonly version: string;
  /** Its limits, and TLS off loopback: who makes it knows how. */
  readonly createServer?: FastifyServerFactory;
  readonly compilePattern: CompilePattern;
  /** Where links have streams as well; one of its own else. */
  readonly streams?: EventStreams;
  readonly attendance: Attendance;
  readonly loopMeter?: LoopMeter | undefined;
  /** What it runs on, for who asks. */
  readonly facts?: Pick<ServerView, 'machine' | 'versions'>;
  /** A client asked the controller to end; called after the answer is out. Absent where it ends with its command. */
  readonly onStop?: (() => void) | undefined;
  /** Told of each route, for example `GET /api/v1/server`. */
  readonly onRoute?: (route: string) => void;
}

/** Most routes are never asked for in a short run, to which all of their validators together would add a tenth. */
const compileWhenUsed: typeof TypeBoxValidatorCompiler = (route) => {
  let validate: ReturnType<typeof TypeBoxValidatorCompiler> | undefined;
  return (value: unknown) => {
    validate ??= TypeBoxValidatorCompiler(route);
    return validate(value);
  };
};

export const makeApp = (createServer: ApiOptions['createServer']) =>
  fastify({
    bodyLimit: steeringBodyBytesMax,
    forceCloseConnections: true,
    // A second set of routes that nobody asks for takes a twentieth of a short run.
    exposeHeadRoutes: false,
    // Schemas name every property that is read, and refuse others; to search each body for two of them takes as long as parsing it.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    clientErrorHandler: answerBroken,
    routerOptions: { constraints: { media: mediaConstraint } },
    schemaErrorFormatter: (errors, part) => refusalOf(errors, part),
    frameworkErrors: (error, _, reply) => {
      const known = asDroverError(error);
      reply.raw.writeHead(known.status, { 'content-type': 'application/json' }).end(JSON.stringify(bodyOf(known)));
    },
    ...(createServer === undefined ? {} : { serverFactory: createServer }),
  })
    .setValidatorCompiler(compileWhenUsed)
    // Answers are made by our own renderers: to compile a serializer for each schema takes a fifth of a short run.
    .setSerializerCompiler(() => (answer) => JSON.stringify(answer))
    .withTypeProvider<TypeBoxTypeProvider>();
export type App = ReturnType<typeof makeApp>;

/** References in paths, for example `w3` and `w3.14`. */
export const Reference = Type.Object({ id: Type.String({ maxLength: 40 }) });
