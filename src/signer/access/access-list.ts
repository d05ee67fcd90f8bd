import { createHash } from "node:crypto";
import path from "node:path";
import { SignRequestSchema } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { Curve } from "../../client/sdk/index.ts";
import { readPrivateFile } from "../store/private-file.ts";

/** What one caller may do, and how it is recognized. */
export interface CallerRules {
  readonly name: string;
  /** SHA-256 of its tokens, in hex. Empty if it sends none. */
  readonly tokenDigests: readonly string[];
  /** A name in its certificate. Undefined if it presents none. */
  readonly certificate: string | undefined;
  /** True if it calls on the Unix socket. */
  readonly isOnSocket: boolean;
  /** The names of its keys. A `*` at the end stands for any rest. */
  readonly keys: readonly string[];
  /** Undefined for all. */
  readonly curves: ReadonlySet<string> | undefined;
  /** The kinds of payloads, by their names in the contract. Undefined for all. */
  readonly payloads: ReadonlySet<string> | undefined;
  readonly mayCreateKeys: boolean;
  /** The most keys that there may be under its names. Undefined for no bound beside the signer's. */
  readonly maxKeys: number | undefined;
  readonly signaturesPerMinute: number | undefined;
  readonly signaturesPerDay: number | undefined;
}

/**
 * Parses the file of callers. Throws an Error that names the caller and the field, and never quotes a token.
 *
 * @param folder where files of tokens are, if their names are relative
 */
export function parseAccessList(text: string, folder: string): readonly CallerRules[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  const { callers, ...others } = fieldsOf(parsed, "the file");
  refuseOthers(others, "the file");
  if (!Array.isArray(callers) || callers.length < 1 || callers.length > MAX_CALLERS)
    throw new Error(`callers must be a list of 1 to ${MAX_CALLERS} callers`);
  const list = callers.map((each, at) => readCaller(each, `callers[${at}]`, folder));
  refuseTwins(list);
  return list;
}

/** The payloads of the contract: the name that the generated code has for each, and the contract's own. */
export const PAYLOAD_NAMES: ReadonlyMap<string, string> = new Map(
  SignRequestSchema.oneofs[0]!.fields.map(({ localName, name }) => [localName, name]),
);

/** The most callers. Each has its part of the signer's places. */
const MAX_CALLERS = 32;
const MAX_NAMES = 1_000;
const MAX_TOKENS = 4;
const MAX_SIGNATURES = 1_000_000_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const KEY_NAMES = /^(?:\*|[A-Za-z0-9][A-Za-z0-9._@+:-]{0,127}\*?)$/;
const CERTIFICATE_NAME = /^[!-~]{1,255}$/;
const DIGEST = /^[0-9a-f]{64}$/;

type Fields = Readonly<Record<string, unknown>>;

function readCaller(value: unknown, at: string, folder: string): CallerRules {
  const {
    name,
    tokenSha256,
    tokenFile,
    certificate,
    socket = false,
    keys,
    curves,
    payloads,
    createKeys = false,
    maxKeys,
    signaturesPerMinute,
    signaturesPerDay,
    ...others
  } = fieldsOf(value, at);
  refuseOthers(others, at);
  const tokenDigests = [
    ...texts(tokenSha256, `${at}.tokenSha256`, DIGEST, "SHA-256 in 64 lower-case hex digits", MAX_TOKENS),
    ...texts(tokenFile, `${at}.tokenFile`, /./, "names of files", MAX_TOKENS).map((file) =>
      digestOfFile(path.resolve(folder, file)),
    ),
  ];
  if (certificate !== undefined && !(typeof certificate === "string" && CERTIFICATE_NAME.test(certificate)))
    throw new Error(`${at}.certificate must be a name in a certificate`);
  const rules = {
    name: texts(name, `${at}.name`, NAME, "letters, digits, `.`, `_` and `-`", 1)[0] ?? "",
    tokenDigests,
    certificate,
    isOnSocket: flag(socket, `${at}.socket`),
    keys: texts(keys, `${at}.keys`, KEY_NAMES, "names of keys, or beginnings with `*`", MAX_NAMES),
    curves: choice(curves, `${at}.curves`, Object.keys(Curve)),
    payloads: choice(payloads, `${at}.payloads`, [...PAYLOAD_NAMES.values()]),
    mayCreateKeys: flag(createKeys, `${at}.createKeys`),
    maxKeys: bound(maxKeys, `${at}.maxKeys`),
    signaturesPerMinute: bound(signaturesPerMinute, `${at}.signaturesPerMinute`),
    signaturesPerDay: bound(signaturesPerDay, `${at}.signaturesPerDay`),
  };
  if (rules.name === "") throw new Error(`${at}.name is missing`);
  if (rules.keys.length === 0) throw new Error(`${at}.keys is missing; ["*"] means every key`);
  if (tokenDigests.length === 0 && certificate === undefined && !rules.isOnSocket)
    throw new Error(`${at} needs tokenSha256, tokenFile, certificate or socket: who is it?`);
  if (rules.isOnSocket && certificate !== undefined)
    throw new Error(`${at} has certificate and socket, and a socket has no certificates`);
  return rules;
}

/** Two callers that send the same cannot be told apart. */
function refuseTwins(list: readonly CallerRules[]): void {
  const seen = new Set<string>();
  const add = (what: string, { name }: CallerRules) => {
    if (seen.has(what))
      throw new Error(`the caller ${name} has a name, a token or a certificate of an earlier one`);
    seen.add(what);
  };
  for (const rules of list) {
    add(`name ${rules.name}`, rules);
    for (const digest of rules.tokenDigests) add(`token ${digest}`, rules);
    if (rules.tokenDigests.length === 0) add(`certificate ${rules.certificate ?? "none: socket"}`, rules);
  }
}

function fieldsOf(value: unknown, at: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${at} must be an object`);
  return value as Fields;
}

function refuseOthers(others: Fields, at: string): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new Error(`${at} has the unknown field ${JSON.stringify(unknown.slice(0, 64))}`);
}

/** Reads a text or a list of texts. */
function texts(value: unknown, at: string, form: RegExp, expected: string, most: number): string[] {
  const list = value === undefined ? [] : Array.isArray(value) ? (value as unknown[]) : [value];
  const isFine = list.length <= most && list.every((each) => typeof each === "string" && form.test(each));
  if (!isFine) throw new Error(`${at} must have ${expected}, ${most} at most`);
  return list as string[];
}

function choice(value: unknown, at: string, known: readonly string[]): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  if (list.length === 0 || !list.every((each) => typeof each === "string" && known.includes(each)))
    throw new Error(`${at} must have some of ${known.join(", ")}`);
  return new Set(list as string[]);
}

function flag(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw new Error(`${at} must be true or false`);
  return value;
}

function bound(value: unknown, at: string): number | undefined {
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > MAX_SIGNATURES)
    throw new Error(`${at} must be a whole number from 0 to ${MAX_SIGNATURES}`);
  return Number(value);
}

function digestOfFile(file: string): string {
  const token = readPrivateFile(file, "a token");
  if (!TOKEN.test(token)) throw new Error(`the token in ${file} ${TOKEN_FORM}`);
  return digestOf(token);
}

/** The form of a token: nobody can guess it. */
export const TOKEN = /^[!-~]{32,}$/;
/** That form in words, after the name of the token. */
export const TOKEN_FORM =
  "must have 32 or more visible ASCII characters, such as the output of: openssl rand -hex 32";

/** Returns the SHA-256 of a token, in hex. */
export function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
