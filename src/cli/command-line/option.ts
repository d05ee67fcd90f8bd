import { readFileSync } from "node:fs";
import { CURVE_ALGORITHMS, type CurveAlgorithm } from "../../protocol/algorithms.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import { isObjectId } from "../../protocol/chain/object-id.ts";
import { FULLNODE_URL } from "../../service/config/network.ts";

/** An option or operand of a command, with its help and its parser. */
export interface Option<T> {
  readonly kind: "flag" | "value" | "operand";
  /** The placeholder of the value in help, such as `<usd>`; empty for a flag. */
  readonly placeholder: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** True if the option may be given several times. The text then has the values, separated by {@link BETWEEN_VALUES}. */
  readonly isRepeatable?: boolean;
  /** Parses the text, or undefined if the option is absent. Throws a {@link WrongValue}. */
  readonly read: (text: string | undefined) => T;
}

/** The options of a command by their names in camel case: `creditUsd` is `--credit-usd`. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** The values of a command line, by the names of its options. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** Thrown for an invalid value. The message follows the option's name: "takes …". */
export class WrongValue extends Error {
  override readonly name = "WrongValue";
}

/** Parses a value. Throws a {@link WrongValue}. */
type ReadValue<T> = (text: string) => T;

/** An option without a value. */
export function flag(description: string): Option<boolean> {
  return {
    kind: "flag",
    placeholder: "",
    description,
    isRequired: false,
    read: (text) => text !== undefined,
  };
}

/** An optional option. */
export function optional<T>(
  placeholder: string,
  description: string,
  read: ReadValue<T>,
): Option<T | undefined> {
  return {
    kind: "value",
    placeholder,
    description,
    isRequired: false,
    read: (text) => (text === undefined ? undefined : read(text)),
  };
}

/** An optional option that may be given several times, once for each value. */
export function repeated<T>(
  placeholder: string,
  description: string,
  read: ReadValue<T>,
): Option<T[] | undefined> {
  const option = optional(placeholder, description, (text) => text.split(BETWEEN_VALUES).map(read));
  return { ...option, isRepeatable: true };
}

/** Separates the values of a repeatable option. No argument of a process contains it. */
export const BETWEEN_VALUES = "\0";

/** An option with the default `fallback`. */
export function defaulted<T>(
  placeholder: string,
  description: string,
  read: ReadValue<T>,
  fallback: string,
): Option<T> {
  return {
    kind: "value",
    placeholder,
    description: `${description}; default ${fallback}`,
    isRequired: false,
    read: (text = fallback) => read(text),
  };
}

/** A required option. */
export function required<T>(placeholder: string, description: string, read: ReadValue<T>): Option<T> {
  return { kind: "value", placeholder, description, isRequired: true, read: (text = "") => read(text) };
}

/** A required operand, which has no option name. A command has at most one. */
export function operand<T>(placeholder: string, description: string, read: ReadValue<T>): Option<T> {
  return { ...required(placeholder, description, read), kind: "operand" };
}

/** Returns the option's spelling, such as `--credit-usd`. */
export function optionName(name: string): string {
  return `--${toKebab(name)}`;
}

/** Converts `creditUsd` to `credit-usd`. */
export function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const MICRO_DIGITS = 6;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
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
  isObjectId(value) ? value : wrong("takes an object id, 0x and 64 hex digits");

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

/** Web origins, separated by commas, or `*` for every one. The service checks them. */
export const origins: ReadValue<string[]> = (value) => {
  const items = value.split(",").map((item) => item.trim());
  return items.includes("") ? wrong("takes web origins, such as https://app.example, or *") : items;
};

/** A project's own id of a user. */
export const userReference: ReadValue<string> = (value) =>
  /^[ -~]{1,128}$/.test(value)
    ? value
    : wrong("takes a user's reference, of 1 to 128 printable ASCII characters");

/** Several texts, separated by commas. */
export const texts: ReadValue<string[]> = (value) => {
  const items = value.split(",").map((item) => item.trim());
  return items.includes("") ? wrong("takes one or more texts, separated by commas") : items;
};

/** The contents of a file. */
export const textFile: ReadValue<string> = (value) => {
  try {
    return readFileSync(value, "utf8");
  } catch {
    return wrong("takes a file that can be read");
  }
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

/** A time in the past, or the duration since it: `2027-01-31`, `2027-01-31T12:00:00Z`, `12h`, `90d`. */
export const pastTime: ReadValue<Date> = (value) => {
  const ms = readDuration(value);
  if (ms !== undefined) return new Date(Date.now() - ms);
  const time = TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time)
    ? wrong("takes a time such as 2027-01-31T12:00:00Z, or how long ago, such as 7d")
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

/**
 * Returns ` (did you mean …?)` with the known words nearest to a mistyped one, or nothing if none is near. It repeats
 * only known words, because a mistyped one may be a key.
 */
export function didYouMean(typed: string, known: readonly string[]): string {
  const most = Math.max(1, Math.floor(typed.length / 3));
  const distances = known.map((word) => ({
    word,
    distance: distanceOf(typed.toLowerCase(), word.toLowerCase()),
  }));
  const least = Math.min(...distances.map(({ distance }) => distance));
  const nearest = distances
    .filter(({ word, distance }) => (distance === least && distance <= most) || isBeginning(typed, word))
    .map(({ word }) => word)
    .slice(0, SHOWN_MAX_COUNT);
  return nearest.length === 0 ? "" : ` (did you mean ${nearest.join(" or ")}?)`;
}

const SHOWN_MAX_COUNT = 3;
/** Shorter words begin too many others. */
const BEGINNING_LENGTH = 3;

function isBeginning(typed: string, word: string): boolean {
  return typed.length >= BEGINNING_LENGTH && word.toLowerCase().startsWith(typed.toLowerCase());
}

/** Counts the letters to insert, remove, replace or swap with their neighbour (Damerau's distance). */
function distanceOf(one: string, other: string): number {
  // A longer word is near no command, and would cost the square of its length.
  if (one.length > LONGEST_LENGTH) return Number.POSITIVE_INFINITY;
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const steps = [cell(rows, i - 1, j) + 1, cell([row], 0, j - 1) + 1, cell(rows, i - 1, j - 1) + cost];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(Math.min(...steps, ...(isSwap ? [cell(rows, i - 2, j - 2) + 1] : [])));
    }
    rows.push(row);
  }
  return cell(rows, one.length, other.length);
}

const LONGEST_LENGTH = 40;

const cell = (rows: readonly (readonly number[])[], row: number, column: number): number =>
  rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
