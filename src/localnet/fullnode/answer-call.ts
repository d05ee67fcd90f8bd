import type { WriteLog } from "../write-log.ts";
import { RpcFailure, Status } from "./failures.ts";
import { decodeGrpcWebBody, encodeGrpcWebBody, type GrpcWebFormat } from "./grpc-web.ts";
import { NoAnswer, type UnaryMethod } from "./unary-method.ts";

/**
 * Answers a call over any transport: takes the path and a gRPC-web body, returns a gRPC-web body, also for failures. It
 * only rejects with {@link NoAnswer}, when the caller must get no answer.
 */
export type AnswerCall = (
  path: string,
  octets: Buffer | Promise<Buffer>,
  format: GrpcWebFormat,
) => Promise<Buffer>;

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
      return encodeGrpcWebBody(message, { code: 0, message: "" }, format);
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      return encodeGrpcWebBody(undefined, statusOf(error, path), format);
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
