import { RpcFailure, Status } from "./failures.ts";

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
