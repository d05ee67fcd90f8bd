import {
  create,
  type DescMessage,
  type Message,
  type MessageInitShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/proto/google/rpc/error_details_pb.ts";
import type { ErrorMapping } from "./call-parts.ts";

/**
 * Bounds the size of errors. They may quote a caller's text, and peers drop replies with more than 8 KiB of headers;
 * gRPC sends message and details in headers. Message and details together stay below that limit on every protocol. Lone
 * surrogates, which no protocol can encode, are replaced.
 */
export function boundErrors(errors: ErrorMapping): ErrorMapping {
  return {
    toConnectError: (reason, call) => bound(errors.toConnectError(reason, call)),
    httpStatus: (error) => errors.httpStatus(error),
  };
}

/** The budget of a message with every special character percent-encoded, which is no shorter than gRPC's own form. */
const MESSAGE_BYTES = 1024;

/** Changes the error in place, because other code may already hold it. */
function bound(error: ConnectError): ConnectError {
  const { rawMessage, message, details } = error;
  const text = cutText(rawMessage, MESSAGE_BYTES, percentEncodedBytes);
  // The library prefixes the message with the code.
  const prefix = message.endsWith(rawMessage) ? message.slice(0, message.length - rawMessage.length) : "";
  return Object.assign(error, {
    rawMessage: text,
    message: prefix + text,
    details: boundDetails(details),
  });
}

function percentEncodedBytes(text: string): number {
  return encodeURIComponent(text).length;
}

/**
 * Returns the details of an error, cut to the budget. It shortens the violations of a BadRequest first, then the
 * metadata of an ErrorInfo except its reason and the request id. It drops other kinds as a whole.
 */
export function boundDetails(details: Details): Details {
  if (details.every(isSmall) || sum(details.map(sizeOf)) <= DETAILS_BYTES) return details;
  let leftBytes = DETAILS_BYTES;
  const kept = new Map<Detail, Detail>();
  const keep = (detail: Detail, short: Detail) => {
    const sizeBytes = sizeOf(short);
    if (sizeBytes > leftBytes) return;
    leftBytes -= sizeBytes;
    kept.set(detail, short);
  };
  const violations = details.filter((detail) => isOf(detail, BadRequestSchema));
  for (const detail of details) if (!isOf(detail, BadRequestSchema)) keep(detail, shortenInfo(detail));
  for (const detail of violations) keep(detail, shortenViolations(detail, leftBytes));
  return details.flatMap((detail) => kept.get(detail) ?? []);
}

/** The budget of all details in their largest form: over Connect, each is sent as base64 and as JSON. */
const DETAILS_BYTES = 5 * 1024;
/** The budget of one text within a detail. */
const TEXT_BYTES = 256;

/** This many characters stay below {@link DETAILS_BYTES} even as JSON escapes and in base64. */
const SMALL_CHARS = 400;

type Details = ConnectError["details"];
type Detail = Details[number];

/** Whether a detail is too small to measure, as nearly all are. */
function isSmall(detail: Detail): boolean {
  if (isOf(detail, RetryInfoSchema)) return true;
  if (!isOf(detail, ErrorInfoSchema)) return false;
  const {
    reason = "",
    domain = "",
    metadata = {},
  } = detail.value as MessageInitShape<typeof ErrorInfoSchema>;
  const texts = [reason, domain, ...Object.entries(metadata).flat()];
  return sum(texts.map(({ length }) => length)) <= SMALL_CHARS;
}

function shortenInfo(detail: Detail): Detail {
  if (!isOf(detail, ErrorInfoSchema) || sizeOf(detail) <= DETAILS_BYTES / 2) return detail;
  const {
    reason = "",
    domain = "",
    metadata = {},
  } = detail.value as MessageInitShape<typeof ErrorInfoSchema>;
  const { requestId } = metadata;
  const value = {
    reason: cutText(reason, TEXT_BYTES),
    domain: cutText(domain, TEXT_BYTES),
    metadata: requestId === undefined ? {} : { requestId: cutText(requestId, TEXT_BYTES) },
  };
  return { desc: ErrorInfoSchema, value };
}

function shortenViolations(detail: Detail, maxBytes: number): Detail {
  if (!("desc" in detail)) return detail;
  const { fieldViolations = [] } = detail.value as MessageInitShape<typeof BadRequestSchema>;
  const short: Detail & { value: { fieldViolations: object[] } } = {
    desc: BadRequestSchema,
    value: { fieldViolations: [] },
  };
  for (const { field = "", description = "" } of fieldViolations) {
    const violation = { field: cutText(field, TEXT_BYTES), description: cutText(description, TEXT_BYTES) };
    short.value.fieldViolations.push(violation);
    if (sizeOf(short) <= maxBytes) continue;
    short.value.fieldViolations.pop();
    break;
  }
  return short;
}

function isOf(detail: Detail, { typeName }: DescMessage): detail is Extract<Detail, { desc: DescMessage }> {
  return "desc" in detail && detail.desc.typeName === typeName;
}

/** The size in base64 plus JSON. */
function sizeOf(detail: Detail): number {
  if (!("desc" in detail)) return base64Bytes(detail.value.byteLength);
  const desc: DescMessage = detail.desc;
  const message = create(desc, detail.value);
  return base64Bytes(toBinary(desc, message).byteLength) + jsonBytes(desc, message);
}

/** Returns 0 when a nested type is unknown: such a detail is sent without JSON. */
function jsonBytes(desc: DescMessage, message: Message): number {
  try {
    return Buffer.byteLength(toJsonString(desc, message));
  } catch {
    return 0;
  }
}

function base64Bytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 3) * 4;
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}

/**
 * Returns the text, or its longest prefix that fits, with an ellipsis. It never splits a character and replaces lone
 * surrogates.
 * @param sizeOf the size of a piece of well-formed text, which must be additive. Default: UTF-8 bytes
 */
export function cutText(
  text: string,
  maxBytes: number,
  sizeOf: (text: string) => number = utf8Bytes,
): string {
  // Skips the rest of a longer text.
  const wellFormed = text.slice(0, maxBytes + 1).toWellFormed();
  const isWhole = text.length <= maxBytes;
  if (isWhole && text.length * MAX_BYTES_PER_UNIT <= maxBytes) return wellFormed;
  if (isWhole && sizeOf(wellFormed) <= maxBytes) return wellFormed;
  let leftBytes = maxBytes - sizeOf(ELLIPSIS);
  let end = 0;
  for (const character of wellFormed) {
    leftBytes -= sizeOf(character);
    if (leftBytes < 0) break;
    end += character.length;
  }
  return wellFormed.slice(0, end) + ELLIPSIS;
}

const ELLIPSIS = "…";
/** The most bytes of one UTF-16 unit: three bytes in UTF-8, each three characters in percent-encoding. */
const MAX_BYTES_PER_UNIT = 9;

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}

/** Cuts a name from the caller, so that a reply does not repeat a long one. */
export function shorten(name: string): string {
  return name.length <= MAX_CHARACTERS ? name : `${name.slice(0, MAX_CHARACTERS)}…`;
}

const MAX_CHARACTERS = 64;
