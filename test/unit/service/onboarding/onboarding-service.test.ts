/** What the service says with protocol parameters, which proxies cache and clients resume. */
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import {
  createOnboardingService,
  type OnboardingServiceDeps,
} from "../../../../src/service/onboarding/onboarding-service.ts";
import { createErrorInterceptor } from "../../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const SHA256 = "a".repeat(64);
const BYTES = new Uint8Array(300 * 1024).map((_, index) => index % 251);

/** Reads the parameters from an offset. Returns the messages and the headers of the answer. */
async function read(offset: number, sha256 = SHA256) {
  const parameterStore = {
    size: async (digest: string) => (digest === SHA256 ? BYTES.length : undefined),
    async *read(_: string, from: number, chunkBytes: number) {
      for (let at = from; at < BYTES.length; at += chunkBytes) yield BYTES.subarray(at, at + chunkBytes);
    },
  };
  const service = createOnboardingService({ parameterStore } as unknown as OnboardingServiceDeps);
  const transport = createRouterTransport((router) => router.service(Onboarding, service), {
    router: { interceptors: [createErrorInterceptor(createErrorMapping(() => {}))] },
  });
  let headers = new Headers();
  const messages: { contentType: string; data: Uint8Array }[] = [];
  const onHeader = (received: Headers) => {
    headers = received;
  };
  for await (const message of createClient(Onboarding, transport).getProtocolParameters(
    { sha256, offset: BigInt(offset) },
    { onHeader },
  ))
    messages.push(message);
  return { headers, messages, bytes: Buffer.concat(messages.map(({ data }) => data)) };
}

it("parameters come in messages of at most 256 KiB, of which only the first has the content type", async () => {
  const { messages, bytes } = await read(0);
  expect(messages.map(({ contentType, data }) => [contentType, data.length])).toEqual([
    ["application/octet-stream", 256 * 1024],
    ["", 44 * 1024],
  ]);
  expect(bytes.equals(BYTES)).toBe(true);
});

it("parameters never change, and every offset has its own tag and length", async () => {
  const [whole, rest] = [await read(0), await read(1_000)];
  for (const { headers } of [whole, rest])
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(whole.headers.get("etag")).toBe(`"${SHA256}"`);
  expect(whole.headers.get("content-length")).toBe(String(BYTES.length));
  expect(rest.headers.get("etag")).toBe(`"${SHA256}-1000"`);
  expect(rest.headers.get("content-length")).toBe(String(BYTES.length - 1_000));
  expect(rest.bytes.equals(BYTES.subarray(1_000))).toBe(true);
});

it("an offset at or beyond the end gets nothing, and an unknown digest is refused", async () => {
  for (const offset of [BYTES.length, BYTES.length + 1, 2 ** 50]) {
    const { headers, messages } = await read(offset);
    expect([headers.get("content-length"), messages]).toEqual(["0", []]);
  }
  expect(await refusalOf(read(0, "b".repeat(64)))).toBe("PARAMETERS_NOT_FOUND");
});
