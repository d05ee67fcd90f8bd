import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { fromConnectError, isTransportFailure } from "../../../../src/client/sdk/errors.ts";
import { createClient } from "../../../../src/client/sdk/index.ts";
import { serviceError } from "../../../unit/client/sdk/fake-service.ts";

test("an error of the service has its reason, metadata, request id and retry hint", () => {
  const error = serviceError(Code.Unavailable, "PRESIGN_POOL_EMPTY", {
    metadata: { bucket: "0/1" },
    retryAfterMs: 250,
  });
  expect(fromConnectError(error)).toMatchObject({
    name: "TssError",
    reason: "PRESIGN_POOL_EMPTY",
    message: "public text",
    requestId: "request-7",
    metadata: { bucket: "0/1" },
    retryAfterMs: 250,
  });
  expect(isTransportFailure(error)).toBe(false);
});

test("a plain retry-after header is also a retry hint", () => {
  const error = new ConnectError("slow down", Code.ResourceExhausted, { "retry-after": "3" });
  expect(fromConnectError(error)).toMatchObject({ reason: "RESOURCE_EXHAUSTED", retryAfterMs: 3000 });
});

test("answers without a reason get the code's name, and a missing answer is UNREACHABLE", () => {
  const reasonOf = (code: Code): string => fromConnectError(new ConnectError("x", code)).reason;
  expect(reasonOf(Code.PermissionDenied)).toBe("PERMISSION_DENIED");
  expect(reasonOf(Code.InvalidArgument)).toBe("VALIDATION");
  expect(reasonOf(Code.Unavailable)).toBe("UNREACHABLE");
  expect(reasonOf(Code.DeadlineExceeded)).toBe("UNREACHABLE");
  expect(reasonOf(Code.Unknown)).toBe("UNKNOWN");
});

test("a closed port is UNREACHABLE, and the error does not show the key", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const client = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: "tss_local_do_not_show",
    network: "localnet",
  });
  const error = await client
    .onboard({ seed: new Uint8Array(32), curve: "ED25519" })
    .catch((cause: unknown) => cause);
  expect(error).toMatchObject({ reason: "UNREACHABLE", metadata: { stage: "network" } });
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain("do_not_show");
});

test("a certificate of a private authority is UNREACHABLE, and the error says how to trust the authority", () => {
  const failed = (code: string) => {
    const cause = Object.assign(new Error("self-signed certificate in certificate chain"), { code });
    const fetchFailed = new TypeError("fetch failed", { cause });
    return fromConnectError(
      new ConnectError("fetch failed", Code.Unknown, undefined, undefined, fetchFailed),
    );
  };
  for (const code of ["SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"])
    expect(failed(code)).toMatchObject({
      reason: "UNREACHABLE",
      message: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
  expect(failed("ECONNREFUSED").message).not.toContain("NODE_EXTRA_CA_CERTS");
});
