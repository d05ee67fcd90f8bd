import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

/** Creates the default transport: Connect with binary messages over fetch, in Node and in browsers. */
export function createDefaultTransport(baseUrl: string): Transport {
  return createConnectTransport({ baseUrl, useBinaryFormat: true });
}

/** Adds headers to every call of a transport. A header that the call itself sets takes precedence. */
export function withHeaders(transport: Transport, headers: Readonly<Record<string, string>>): Transport {
  const merge = (own: HeadersInit | undefined): Headers => {
    const merged = new Headers(headers);
    new Headers(own).forEach((value, name) => {
      merged.set(name, value);
    });
    return merged;
  };
  return {
    unary: (method, signal, timeoutMs, header, input, values) =>
      transport.unary(method, signal, timeoutMs, merge(header), input, values),
    stream: (method, signal, timeoutMs, header, input, values) =>
      transport.stream(method, signal, timeoutMs, merge(header), input, values),
  };
}
