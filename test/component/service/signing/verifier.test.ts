import { afterAll, describe, expect, it } from "vitest";
import { PoolFullError } from "../../../../src/service/platform/threads/worker-pool.ts";
import { createVerifier } from "../../../../src/service/signing/verify/verifier.ts";
import type { SignMessageClaim } from "../../../../src/service/signing/verify/verify-work.ts";
import { flipBit, SIGNATURE_VECTORS, vectorOf } from "../../../support/crypto/signature-vectors.ts";

const verifier = createVerifier({ threadMaxCount: 1 });
afterAll(() => verifier.close());

function halfOf(algorithm: Parameters<typeof vectorOf>[0]): SignMessageClaim {
  const { triple, dwalletOutput, presign, message, userSignMessage } = vectorOf(algorithm);
  const { curve, signatureAlgorithm } = triple;
  return {
    curve,
    signatureAlgorithm,
    dwalletOutput,
    message,
    presign: presign ?? new Uint8Array(),
    userSignMessage: userSignMessage!,
  };
}
const half = halfOf("EdDSA");
const junk = { ...half, message: Uint8Array.of(1, 2, 3) };

/** Counts the turns of the event loop until a promise settles. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work.catch(() => {});
  isOver = true;
  return turns;
}

describe("the verifier", { timeout: 60_000 }, () => {
  it.each(["ECDSASecp256k1", "ECDSASecp256r1", "Taproot", "EdDSA", "Schnorrkel"] as const)(
    "accepts a right half of %s, and names the fault of a wrong one",
    async (algorithm) => {
      const claim = halfOf(algorithm);
      expect(await verifier.checkHalf("p", claim)).toBeUndefined();
      const userSignMessage = claim.userSignMessage.subarray(1);
      expect(await verifier.checkHalf("p", { ...claim, userSignMessage })).toMatch(/bytes|version|layout/);
    },
  );

  it("returns the network's signature in the contract's form, and refuses another form", async () => {
    for (const { triple, dwalletOutput, message, publicKey, chainSignature } of SIGNATURE_VECTORS) {
      const claim = { ...triple, dwalletOutput, message, signature: chainSignature };
      const verified = await verifier.checkSignature({ ...claim, publicKey });
      expect(verified).toBeInstanceOf(Uint8Array);
      expect(await verifier.checkSignature({ ...claim, publicKey: null })).toEqual(verified);
      const signature = flipBit(chainSignature, 80);
      expect(await verifier.checkSignature({ ...claim, publicKey, signature })).toBeUndefined();
    }
  });

  it("leaves the event loop free between any two halves", async () => {
    const count = 30;
    const answers = Promise.all(Array.from({ length: count }, () => verifier.checkHalf("p", junk)));
    expect(await turnsDuring(answers)).toBeGreaterThanOrEqual(count);
    expect(await answers).toEqual(Array(count).fill(expect.stringContaining("does not verify")));
  });

  it("verifies a project's half after at most two of another project that has sent hundreds", async () => {
    const ended: string[] = [];
    const send = (project: string, claim: SignMessageClaim) =>
      verifier.checkHalf(project, claim).finally(() => ended.push(project));
    const flood = Array.from({ length: 300 }, () => send("hostile", junk));
    const outcomes = Promise.allSettled(flood);
    const { triple, dwalletOutput, message, publicKey, chainSignature: signature } = vectorOf("EdDSA");
    const honest = send("honest", half);
    const settled = verifier
      .checkSignature({ ...triple, publicKey, dwalletOutput, message, signature })
      .finally(() => ended.push("settler"));
    await Promise.all([honest, settled]);
    const answered = (await outcomes).filter(({ status }) => status === "fulfilled").length;
    const refused = await Promise.allSettled(flood).then((all) =>
      all.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : [])),
    );
    // Refused halves end at once; the others are verified in this order.
    const looks = ended.slice(refused.length);
    expect(looks.slice(0, 4)).toEqual(["hostile", "settler", "hostile", "honest"]);
    expect(answered + refused.length).toBe(300);
    expect(answered).toBeLessThan(100);
    expect(refused.every((error) => error instanceof PoolFullError)).toBe(true);
  });
});
