import { expect, it } from "vitest";
import { messageSignPrice, type PriceTable } from "../../../src/protocol/price-table.ts";

const table: PriceTable = {
  signMicroUsd: 10_000n,
  signByAlgorithmMicroUsd: new Map([["EdDSA", 8_000n]]),
  messageKibMicroUsd: 6_000n,
  dkgMicroUsd: 20_000n,
  shareMicroUsd: 20_000n,
  importMicroUsd: 20_000n,
  holdMicroUsd: 10_000n,
};

it.each([
  [1, 10_000n],
  [32, 10_000n],
  [1_024, 10_000n],
  [1_025, 16_000n],
  [2_048, 16_000n],
  [2_049, 22_000n],
  [16_381, 100_000n],
])("a message of %i bytes costs its size as stored on the chain", (length, price) => {
  expect(messageSignPrice(table, "ECDSASecp256k1", length)).toBe(price);
  expect(messageSignPrice(table, "EdDSA", length)).toBe(price - 2_000n);
});
