import { expect, it } from "vitest";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { createAffordable } from "../../../../src/service/presigns/refill-loop.ts";

const bucket = { network: "localnet", curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId: "0x1" };
const treasuryOf = (ika: bigint, sui: bigint) => ({
  reads: 0,
  async balances() {
    this.reads++;
    return { ika, sui };
  },
  signPrices: async () => [
    { curve: 0, signatureAlgorithm: 1, ika: 1n, sui: 1n },
    { curve: 0, signatureAlgorithm: 0, ika: 15n, sui: 3n },
  ],
});

it("counts the presigns that the scarcer coin can pay for, together with their signatures", async () => {
  expect(await createAffordable(treasuryOf(150n, 1_000n), systemClock)(bucket)).toBe(10);
  expect(await createAffordable(treasuryOf(1_000n, 29n), systemClock)(bucket)).toBe(9);
  expect(await createAffordable(treasuryOf(14n, 1_000n), systemClock)(bucket)).toBe(0);
});

it("treats an operation without a price as affordable", async () => {
  const treasury = { ...treasuryOf(0n, 0n), signPrices: async () => [] };
  expect(await createAffordable(treasury, systemClock)(bucket)).toBe(Number.MAX_SAFE_INTEGER);
});

it("caches a reading for some time, but not a failure", async () => {
  let nowMs = 0;
  const treasury = treasuryOf(150n, 1_000n);
  const affordable = createAffordable(treasury, { now: () => nowMs }, 100);
  await affordable(bucket);
  await affordable({ ...bucket, signatureAlgorithm: 1 });
  expect(treasury.reads).toBe(1);
  nowMs = 100;
  await affordable(bucket);
  expect(treasury.reads).toBe(2);

  const failing = createAffordable(
    { ...treasury, balances: () => Promise.reject(new Error("gone")) },
    systemClock,
  );
  await expect(failing(bucket)).rejects.toThrow("gone");
  await expect(failing(bucket)).rejects.toThrow("gone");
});
