import { FULLNODE_URL } from "../config/network.ts";
import { CURVE_ALGORITHMS, type CurveAlgorithm } from "../protocol/algorithms.ts";
import { hexToBytes } from "../protocol/bytes.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type ReadValue, WrongValue } from "./option.ts";

const MICRO_DIGITS = 6;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OBJECT_ID = /^0x[0-9a-f]{64}$/;
const DURATION = /^(\d{1,5})([mhd])$/;
const DURATION_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** Requires a time zone, so that the time means the same on every machine. */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Non-empty text, trimmed. */
export const nonEmptyText: ReadValue<string> = (value) => value.trim() || wrong("takes text");

/** The id of a row of the service, a UUID. */
export const uuid: ReadValue<string> = (value) => (UUID.test(value) ? value : wrong("takes an id, a UUID"));

/** Ids of rows, separated by commas, in lower case; empty for `none`. */
export const uuidsOrNone: ReadValue<string[]> = (value) =>
  value === "none" ? [] : value.split(",").map((each) => uuid(each.trim()).toLowerCase());

/** The id of an object on the chain. */
export const objectId: ReadValue<string> = (value) =>
  OBJECT_ID.test(value) ? value : wrong("takes an object id, 0x and 64 hex digits");

/** A Sui address, with or without leading zeros. */
export const addressOnSui: ReadValue<string> = (value) =>
  /^0x[0-9a-f]{1,64}$/i.test(value) ? value : wrong("takes a Sui address, 0x and up to 64 hex digits");

/** US dollars, converted exactly to micro-USD: at most ten million dollars and six decimals. */
export const microUsd: ReadValue<bigint> = (value) => {
  const [, sign, dollars = "", decimals = ""] = /^(-?)(\d{1,8})(?:\.(\d{1,6}))?$/.exec(value) ?? [];
  if (sign === undefined) return wrong("takes an amount in US dollars, such as 12.50");
  const amount = BigInt(dollars + decimals.padEnd(MICRO_DIGITS, "0"));
  return sign === "-" ? -amount : amount;
};

/** An amount that is not negative. */
export const positiveMicroUsd: ReadValue<bigint> = (value) => {
  const amount = microUsd(value);
  return amount >= 0n ? amount : wrong("takes a non-negative amount in US dollars, such as 12.50");
};

/** The URL of a server. */
export const httpUrl: ReadValue<string> = (value) =>
  URL.canParse(value) && /^https?:/i.test(value) ? value : wrong("takes an http(s) URL");

/** The URL of a fullnode, for gRPC-web or for native gRPC. */
export const fullnodeUrl: ReadValue<string> = (value) =>
  URL.canParse(value) && FULLNODE_URL.test(value) ? value : wrong("takes an http(s) or grpc(s) URL");

/** An integer within bounds. */
export const count =
  (least: number, most: number): ReadValue<number> =>
  (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most
      ? number
      : wrong(`takes a whole number from ${least} to ${most}`);
  };

/** One of several words. */
export const choiceOf =
  <T extends string>(words: readonly T[]): ReadValue<T> =>
  (value) =>
    words.find((word) => word === value) ??
    wrong(`takes one of ${words.join(", ")}${didYouMean(value, words)}`);

/** A value of an enum by its name in the contract. */
export const enumValue =
  <T extends number>(values: Readonly<Record<string, T>>): ReadValue<T> =>
  (value) => {
    const names = Object.keys(values).filter((name) => values[name] !== 0);
    return values[choiceOf(names)(value)]!;
  };

/** Several words, each once, separated by commas. */
export const choicesOf =
  <T extends string>(words: readonly T[]): ReadValue<T[]> =>
  (value) => {
    const given = value.split(",").map((word) => word.trim());
    const unknown = given.find((word) => !words.some((known) => known === word));
    const near = unknown === undefined ? "" : didYouMean(unknown, words);
    if (unknown !== undefined || new Set(given).size < given.length)
      return wrong(`takes one or more of ${words.join(",")}, separated by commas${near}`);
    return words.filter((word) => given.includes(word));
  };

/** Addresses and CIDR blocks, separated by commas. The service checks them. */
export const addresses: ReadValue<string[]> = (value) => {
  const items = value.split(",").map((item) => item.trim());
  return items.includes("")
    ? wrong("takes addresses and CIDR blocks, such as 203.0.113.7,10.0.0.0/8")
    : items;
};

/** `45m`, `12h` or `30d` in seconds. */
export const duration =
  (mostDays: number): ReadValue<number> =>
  (value) => {
    const ms = value === "0" ? 0 : readDuration(value);
    return ms !== undefined && ms <= mostDays * DURATION_MS.d
      ? ms / 1000
      : wrong(`takes a duration such as 45m, 12h or 1d, of ${mostDays} days at most`);
  };

/** A time, or the duration until it: `2027-01-31`, `2027-01-31T12:00:00Z`, `12h`, `90d`. */
export const moment: ReadValue<Date> = (value) => {
  const ms = readDuration(value);
  if (ms !== undefined) return new Date(Date.now() + ms);
  const time = TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time)
    ? wrong("takes a time such as 2027-01-31T12:00:00Z, or how long until then, such as 90d")
    : new Date(time);
};

/** A bucket of the presign pool, in the form of `PRESIGN_BUCKETS`: `SECP256K1/Taproot`. */
export const bucket: ReadValue<CurveAlgorithm> = (value) => {
  const names = CURVE_ALGORITHMS.map(bucketName);
  return CURVE_ALGORITHMS[names.indexOf(choiceOf(names)(value))]!;
};

/** The number of an event of the audit trail, or of a seal. */
export const rowNumber: ReadValue<bigint> = (value) =>
  /^[1-9]\d{0,17}$/.test(value) ? BigInt(value) : wrong("takes a whole number, such as 1");

/** 32 bytes in hex. */
export const hash: ReadValue<Uint8Array> = (value) => {
  if (/^[0-9a-f]{64}$/i.test(value)) return hexToBytes(value.toLowerCase());
  // JSON has bytes in base64, as in the output of `--json` and in replies over REST.
  const bytes = /^[A-Za-z0-9+/]{43}=$/.test(value) ? new Uint8Array(Buffer.from(value, "base64")) : undefined;
  return bytes ?? wrong("takes 64 hex digits, or 32 bytes in base64");
};

/** Several values of 32 bytes in hex, separated by commas. */
export const hashes: ReadValue<Uint8Array[]> = (value) => value.split(",").map((each) => hash(each.trim()));

function readDuration(value: string): number | undefined {
  const [, amount, unit] = DURATION.exec(value) ?? [];
  return amount === undefined ? undefined : Number(amount) * DURATION_MS[unit as keyof typeof DURATION_MS];
}

function bucketName({ curve, signatureAlgorithm }: CurveAlgorithm): string {
  return `${curve}/${signatureAlgorithm}`;
}

function wrong(message: string): never {
  throw new WrongValue(message);
}
