import {
  CURVE_ALGORITHMS,
  findSignatureAlgorithm,
  type SignatureAlgorithmName,
} from "../../protocol/algorithms.ts";
import type { PriceTable } from "../../protocol/price-table.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the prices that the service charges. */
export function readPriceTable(read: ConfigReader<VariableName>): PriceTable {
  const price = (name: VariableName) => BigInt(read.integer(name, 0, PRICE_MAX_MICRO_USD));
  return {
    signMicroUsd: price("BILLING_PRICE_SIGN_MICRO_USD"),
    signByAlgorithmMicroUsd: readAlgorithmPrices(read),
    messageKibMicroUsd: price("BILLING_PRICE_MESSAGE_KIB_MICRO_USD"),
    dkgMicroUsd: price("BILLING_PRICE_DKG_MICRO_USD"),
    shareMicroUsd: price("BILLING_PRICE_SHARE_MICRO_USD"),
    importMicroUsd: price("BILLING_PRICE_IMPORT_MICRO_USD"),
    holdMicroUsd: price("BILLING_PRICE_HOLD_MICRO_USD"),
  };
}

const PRICE_MAX_MICRO_USD = 1_000_000_000_000;

function readAlgorithmPrices(read: ConfigReader<VariableName>): ReadonlyMap<SignatureAlgorithmName, bigint> {
  const name = "BILLING_PRICE_SIGN_BY_ALGORITHM_MICRO_USD";
  const known = CURVE_ALGORITHMS.map(({ signatureAlgorithm }) => signatureAlgorithm);
  const prices = new Map<SignatureAlgorithmName, bigint>();
  for (const item of read.list(name)) {
    const [, text = "", price = ""] = /^(\w+)\s*=\s*(\d{1,13})$/.exec(item) ?? [];
    const algorithm = findSignatureAlgorithm(text);
    if (algorithm === undefined || Number(price) > PRICE_MAX_MICRO_USD || prices.has(algorithm)) {
      const expected = `each of ${known.join(", ")} at most once, with a whole number up to ${PRICE_MAX_MICRO_USD}, like EdDSA=8000`;
      read.fault(name, item, expected);
    } else prices.set(algorithm, BigInt(price));
  }
  return prices;
}
