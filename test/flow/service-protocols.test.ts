/**
 * One service, five kinds of client: each onboards and signs step by step on its own protocol, and OpenSSL verifies
 * every signature. The user's crypto is shared; only the calls differ.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import {
  bufCurlClient,
  connectWebClient,
  curlClient,
  grpcJsClient,
  type ProtocolClient,
} from "../support/service/protocol-clients.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";
import {
  fromBase64,
  onboardOver,
  reserveOver,
  signEnd,
  submitOver,
  type UserSteps,
} from "../support/service/user.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
let service: SharedService;
let steps: UserSteps;

beforeAll(async () => {
  service = await sharedService();
  const parameters = await service.parameters("ED25519");
  steps = { engine: createInlineEngine(), parameters, triple };
});

afterAll(async () => {
  await steps?.engine.close();
});

describe("a service on one port", () => {
  const protocolClients: [string, () => ProtocolClient][] = [
    ["grpc-js (gRPC over h2c)", () => grpcJsClient(service.access.baseUrl, service.access.apiKey)],
    [
      "connect-web (Connect JSON)",
      () => connectWebClient(service.access.baseUrl, service.access.apiKey, "connect"),
    ],
    [
      "connect-web (gRPC-web)",
      () => connectWebClient(service.access.baseUrl, service.access.apiKey, "grpc-web"),
    ],
    ["buf curl (connect-go, gRPC)", () => bufCurlClient(service.access.baseUrl, service.access.apiKey)],
    ["curl (REST over HTTP/1.1)", () => curlClient(service.access.baseUrl, service.access.apiKey)],
  ];

  it.each(protocolClients)("onboards and signs for %s", { timeout: 600_000 }, async (_name, makeClient) => {
    const protocolClient = makeClient();
    try {
      const dwallet = await onboardOver(protocolClient, steps, new Uint8Array(randomBytes(32)));
      const message = new Uint8Array(randomBytes(100));
      const reserved = await reserveOver(protocolClient, triple, dwallet, message);
      await submitOver(protocolClient, steps, dwallet, reserved, message);
      const done = await signEnd(protocolClient, reserved["signRequestId"]!);
      expect(done["status"]).toBe("completed");
      const signature = fromBase64(done["signature"]);
      expect(isValidSignature({ ...triple, publicKey: dwallet.publicKey, message, signature })).toBe(true);
      expect(
        isValidSignature({ ...triple, publicKey: dwallet.publicKey, message: message.slice(1), signature }),
      ).toBe(false);
    } finally {
      protocolClient.close();
    }
  });
});
