import type { WriteLog } from "../write-log.ts";
import { RpcFailure, Status } from "./failures.ts";
import { decodeGrpcWebBody, type GrpcWebFormat } from "./grpc-web.ts";
import { NoAnswer, type UnaryMethod } from "./unary-method.ts";

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
