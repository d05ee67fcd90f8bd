import { type ConnectHttp2, HTTP2_SETTINGS } from "../protocol/native-grpc.ts";

/**
 * Opens an HTTP/2 connection in Node. Loads Node's module from the running process instead of importing it, so that
 * bundlers for browsers see no Node module. Throws elsewhere.
 */
export const connectHttp2: ConnectHttp2 = (origin) => {
  const http2 = globalThis.process?.getBuiltinModule?.("node:http2");
  if (http2 === undefined) throw new TypeError("a URL of native gRPC needs Node");
  return http2.connect(origin, { settings: HTTP2_SETTINGS });
};

/** Returns whether this runtime can speak native gRPC. Browsers cannot. */
export function hasHttp2(): boolean {
  return globalThis.process?.getBuiltinModule?.("node:http2") !== undefined;
}
