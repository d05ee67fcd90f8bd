import type { WriteLog } from "../../network.ts";
import { RpcFailure, Status } from "../execution/failures.ts";
import { decodeGrpcWebBody, type GrpcWebFormat } from "./grpc-web.ts";

/** A unary method of the node: its path, and a handler from request bytes to response bytes. */
export interface UnaryMethod {
  /** `/package.Service/Method` */
  readonly path: string;
  handle(request: Uint8Array): Promise<Uint8Array>;
}

/** Thrown by a handler to send no answer: the connection stays silent until the caller closes it, or it breaks. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly how: "silent" | "connection-breaks";

  constructor(how: NoAnswer["how"]) {
    super(`no answer, ${HOW[how]}`);
    this.how = how;
  }
}

const HOW: Readonly<Record<NoAnswer["how"], string>> = {
  silent: "until the client gives up",
  "connection-breaks": "and the connection breaks",
};

interface MessageType<T> {
  fromBinary(bytes: Uint8Array): T;
  toBinary(message: T): Uint8Array;
}

/** Binds a handler to its path and message types. */
export function unary<I, O>(
  service: { readonly typeName: string },
  name: string,
  input: MessageType<I>,
  output: MessageType<O>,
  handler: (request: I) => O | Promise<O>,
): UnaryMethod {
  return {
    path: `/${service.typeName}/${name}`,
    async handle(request) {
      return output.toBinary(await handler(decode(input, request)));
    },
  };
}

function decode<I>(input: MessageType<I>, bytes: Uint8Array): I {
  try {
    return input.fromBinary(bytes);
  } catch (error) {
    throw new RpcFailure(Status.InvalidArgument, `malformed request message: ${(error as Error).message}`);
  }
}

/** Binds a handler that answers with a stream to its path and message types. */
export function streaming<I, O>(
  service: { readonly typeName: string },
  name: string,
  input: MessageType<I>,
  output: MessageType<O>,
  open: (request: I, stream: TypedStream<O>) => () => void,
): StreamingMethod {
  return {
    path: `/${service.typeName}/${name}`,
    open: (request, stream) =>
      open(decode(input, request), {
        send(message) {
          const octets = output.toBinary(message);
          stream.send(octets);
          return octets.length;
        },
        end: () => stream.end(),
        cut: () => stream.cut(),
      }),
  };
}

/** An {@link OutgoingStream} of messages before their encoding. */
export interface TypedStream<O> extends Omit<OutgoingStream, "send"> {
  /** Sends a message, and returns its length in bytes. */
  send(message: O): number;
}

/** A method of the node that answers one request with a stream of messages. */
export interface StreamingMethod {
  /** `/package.Service/Method` */
  readonly path: string;
  /**
   * Sends messages until it ends the stream or the returned function is called. Throws RpcFailure to refuse the call,
   * before the first message.
   */
  open(request: Uint8Array, stream: OutgoingStream): () => void;
}

/** The caller's end of a stream. */
export interface OutgoingStream {
  /** Sends a message. Breaks the connection of a caller that leaves more than {@link MAX_UNREAD_BYTES} unread. */
  send(message: Uint8Array): void;
  /** Ends the stream with status OK after the last message. */
  end(): void;
  /** Breaks the connection without a status. */
  cut(): void;
}

/** The maximum number of bytes of a stream that its caller may leave unread. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * Answers a call over any transport: takes the path and the body, whose binary format gRPC and gRPC-web share. It only
 * rejects with {@link NoAnswer}, when the caller must get no answer.
 */
export type AnswerCall = (
  path: string,
  octets: Buffer | Promise<Buffer>,
  format: GrpcWebFormat,
) => Promise<Answer>;

/** The message, which a failure lacks, and the status. */
export interface Answer {
  readonly message?: Uint8Array;
  readonly status: { readonly code: number; readonly message: string };
}

/** Creates a function that answers calls with these methods. */
export function createCallAnswerer(unaryMethods: readonly UnaryMethod[], log: WriteLog): AnswerCall {
  const methods = new Map(unaryMethods.map((method) => [method.path, method]));
  return async (path, octets, format) => {
    try {
      const method = methods.get(path);
      const body = await octets;
      if (method === undefined)
        throw new RpcFailure(Status.Unimplemented, `${path.slice(0, 200)} is not served here`);
      const message = await method.handle(decodeGrpcWebBody(body, format));
      return { message, status: { code: 0, message: "" } };
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      return { status: statusOf(error, path) };
    }
  };

  function statusOf(error: unknown, path: string): { code: number; message: string } {
    if (error instanceof RpcFailure) return { code: error.code, message: error.message };
    log("call failed", {
      path,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return { code: Status.Internal, message: "internal error" };
  }
}
