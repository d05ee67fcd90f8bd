import { expect, test, vi } from "vitest";
import { onboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { createClient } from "../../../../src/client/sdk/client.ts";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { createFakeService, DWALLET_ID, MESSAGE, SEED } from "../../../unit/client/sdk/fake-service.ts";

vi.mock("../../../../src/client/sdk/actions/flows.ts", () => {
  throw new Error("the chunk is gone");
});

const EDDSA = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;

test.each<[string, (context: ClientContext) => Promise<unknown>]>([
  ["onboard", (context) => onboard(context, { seed: SEED, curve: "ED25519" })],
  ["sign", (context) => sign(context, { ...EDDSA, seed: SEED, dwalletId: DWALLET_ID, message: MESSAGE })],
])(
  "%s fails with CODE_UNAVAILABLE if its code cannot be loaded, and nothing reaches the service",
  async (_, act) => {
    const { context, seen } = createFakeService();
    const error = await act(context).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TssError);
    expect(error).toMatchObject({ reason: "CODE_UNAVAILABLE", resumeToken: undefined });
    expect(seen).toEqual([]);
  },
);

test("malformed arguments are reported before any code is loaded", async () => {
  const { context } = createFakeService();
  await expect(onboard(context, { seed: new Uint8Array(31), curve: "ED25519" })).rejects.toMatchObject({
    reason: "VALIDATION",
  });
});

test("a client is created, and refuses a malformed option, without the code of its actions", () => {
  const options = { baseUrl: "http://127.0.0.1:1", apiKey: "tss_key", network: "testnet" } as const;
  expect(createClient(options).onboard).toBeTypeOf("function");
  expect(() => createClient({ ...options, fullnodeUrl: "ftp://fullnode" })).toThrow("fullnodeUrl");
});
