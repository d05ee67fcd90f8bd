/**
 * The service is killed between submit and completion. Acknowledged work continues after the restart and is charged
 * once.
 */
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../src/protocol/bytes.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { connectWebClient } from "../support/service/protocol-clients.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { downloadParameters, fromBase64, reserveOver, signEnd, submitOver } from "../support/service/user.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const { folder, keys, remove } = await bakedFolder();
const environment = { PRESIGN_BUCKETS: "ED25519/EdDSA", PROTOCOL_PARAMETERS: "on" };
let service: ServiceProcess | undefined;

afterAll(async () => {
  await service?.stop();
  remove();
});

describe("kill -9 between submit and completion", () => {
  it("loses nothing and charges once", { timeout: 600_000 }, async () => {
    service = await startService(folder, environment);
    const parameters = await downloadParameters(service.access.baseUrl, "ED25519");
    await using engine = disposable(createInlineEngine());
    const steps = { engine: engine.value, parameters, triple };
    const before = connectWebClient(service.access.baseUrl, service.access.apiKey, "connect");
    const { dwallet: made, publicKeyHex, userSecretKeyShareHex: shareHex } = keys.ED25519.onboarded;
    const dwallet = { id: made.id, publicKey: hexToBytes(publicKeyHex), shareHex };
    const start = await balance(service);

    const message = new Uint8Array(randomBytes(64));
    const reserved = await reserveOver(before, triple, dwallet, message);
    const price = BigInt(String(reserved["priceMicroUsd"]));
    expect(price).toBeGreaterThan(0n);
    const submitted = await submitOver(before, steps, dwallet, reserved, message);
    await service.crash();
    expect(submitted["status"]).not.toBe("completed");

    service = await startService(folder, environment);
    const after = connectWebClient(service.access.baseUrl, service.access.apiKey, "connect");
    const done = await signEnd(after, reserved["signRequestId"]!);
    expect(done["status"]).toBe("completed");
    expect(
      isValidSignature({
        ...triple,
        publicKey: dwallet.publicKey,
        message,
        signature: fromBase64(done["signature"]),
      }),
    ).toBe(true);

    const again = await submitOver(after, steps, dwallet, reserved, message);
    expect(again["status"]).toBe("completed");
    expect(await balance(service)).toEqual({ balance: start.balance - price, held: 0n });
    expect(await service.stop()).toBe(0);
    service = undefined;
  });
});

async function balance({ access }: ServiceProcess): Promise<{ balance: bigint; held: bigint }> {
  const reply = await fetch(`${access.baseUrl}/v1/billing/balance`, {
    headers: { authorization: `Bearer ${access.apiKey}` },
  });
  const json = (await reply.json()) as { balanceMicroUsd: string; heldMicroUsd: string };
  return { balance: BigInt(json.balanceMicroUsd), held: BigInt(json.heldMicroUsd) };
}

function disposable<T extends { close(): Promise<void> }>(value: T): AsyncDisposable & { value: T } {
  return { value, [Symbol.asyncDispose]: () => value.close() };
}
