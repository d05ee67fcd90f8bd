import { formatCount, formatMoney, parseMoney } from "./text.ts";

/*
 * What is wrong with a typed text, as a sentence for its field. Each function returns undefined for a right text, and
 * for an empty one, which needs no reproach. The service judges again.
 */

/** Of a text with at most this many characters. */
export function lengthFault(text: string, maxLength: number): string | undefined {
  const length = [...text].length;
  return length <= maxLength
    ? undefined
    : `This has ${formatCount(length)} characters, and ${formatCount(maxLength)} are allowed.`;
}

/** Of the name of a project or a key: at most 100 characters. */
export function nameFault(text: string): string | undefined {
  // A text field keeps tabs of a pasted text.
  if (/\p{Cc}/u.test(text.trim())) return "A name has no tabs or other control characters.";
  return lengthFault(text.trim(), NAME_MAX_LENGTH);
}

/** Of the name of an admin key. */
export function adminNameFault(text: string): string | undefined {
  if (text === "") return undefined;
  if (!/^[a-z0-9]/.test(text)) return "The name begins with a lower-case letter or a digit.";
  const [wrong] = /[^a-z0-9._-]/u.exec(text) ?? [];
  if (wrong !== undefined) return `The name cannot contain “${wrong}”.`;
  return lengthFault(text, ADMIN_NAME_MAX_LENGTH);
}

/** Of an amount of dollars, which may be negative. */
export function amountFault(text: string): string | undefined {
  if (text.trim() === "" || /^[-−]$/.test(text.trim())) return undefined;
  const amountMicroUsd = parseMoney(text);
  if (amountMicroUsd === undefined) return "Write an amount such as 12.50, with at most six decimals.";
  return amountMicroUsd === 0n ? "An amount of zero changes nothing." : undefined;
}

/** Of the balance, in dollars, below which there is a warning. */
export function lowBalanceFault(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const amountMicroUsd = parseMoney(text);
  if (amountMicroUsd === undefined || amountMicroUsd <= 0n)
    return "Write an amount above zero such as 12.50, with at most six decimals.";
  return amountMicroUsd <= LOW_BALANCE_MAX_MICRO_USD
    ? undefined
    : `The highest amount is ${formatMoney(LOW_BALANCE_MAX_MICRO_USD)}.`;
}

const LOW_BALANCE_MAX_MICRO_USD = 1_000_000_000_000_000n;

/** Of a whole number from 1 to a maximum. */
export function countFault(text: string, max: number): string | undefined {
  if (text === "") return undefined;
  const isRight = /^[1-9]\d{0,8}$/.test(text) && Number(text) <= max;
  return isRight ? undefined : `Write a whole number from 1 to ${formatCount(max)}, in digits.`;
}

/** Of a transaction digest: base 58 of 32 bytes. */
export function digestFault(text: string): string | undefined {
  const digest = text.trim();
  if (digest === "") return undefined;
  const [wrong] = /[^1-9A-HJ-NP-Za-km-z]/u.exec(digest) ?? [];
  if (wrong !== undefined) return `A digest in base 58 cannot contain “${wrong}”.`;
  return digest.length === 43 || digest.length === 44
    ? undefined
    : `A digest has 43 or 44 characters, and this has ${formatCount(digest.length)}.`;
}

/** Of a project's id in a filter. */
export function projectIdFault(text: string): string | undefined {
  return text.trim() === "" || UUID.test(text.trim())
    ? undefined
    : "A project id is a UUID, such as 0190163d-8694-739b-aea5-966c26f8ad91.";
}

/** Of an actor of the audit trail in a filter. */
export function actorFault(text: string): string | undefined {
  const [wrong] = /[^!-~]/u.exec(text.trim()) ?? [];
  if (wrong !== undefined) return `An actor, such as admin:alice, cannot contain “${wrong}”.`;
  return lengthFault(text.trim(), ACTOR_MAX_LENGTH);
}

/** Of an action of the audit trail in a filter. */
export function actionFault(text: string): string | undefined {
  return text.trim() === "" || /^[a-z_-]{1,40}\.[a-z_-]{1,40}$/.test(text.trim())
    ? undefined
    : "An action has two words with a dot between them, such as api_key.revoke.";
}

/** Of the last day of a span of days, as `2027-01-31`. */
export function lastDayFault(firstDay: string, lastDay: string): string | undefined {
  return firstDay === "" || lastDay === "" || firstDay <= lastDay
    ? undefined
    : "The last day comes before the first one.";
}

const ACTOR_MAX_LENGTH = 100;

/** Of IP addresses and CIDR blocks, separated by commas or spaces. */
export function addressesFault(text: string): string | undefined {
  const addresses = addressesIn(text);
  const wrong = addresses.find((address) => !isAddressBlock(address));
  if (wrong !== undefined)
    return `“${wrong}” is no IP address or CIDR block, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.`;
  return addresses.length <= ADDRESSES_MAX_COUNT
    ? undefined
    : `These are ${addresses.length} addresses, and ${ADDRESSES_MAX_COUNT} are allowed.`;
}

/** Returns the addresses of a text, separated by commas or spaces. */
export function addressesIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

/** Of the beginning of a user's reference. */
export function prefixFault(text: string): string | undefined {
  const [wrong] = /[^ -~]/u.exec(text) ?? [];
  if (wrong !== undefined) return `A reference has only ASCII characters, and cannot contain “${wrong}”.`;
  return lengthFault(text, REFERENCE_MAX_LENGTH);
}

/** Of web origins, separated by commas or spaces, or `*` for every one. */
export function originsFault(text: string): string | undefined {
  const origins = originsIn(text);
  const wrong = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong !== undefined)
    return `“${wrong}” is no origin, such as https://app.example. http is for localhost alone.`;
  return origins.length <= ORIGINS_MAX_COUNT
    ? undefined
    : `These are ${origins.length} origins, and ${ORIGINS_MAX_COUNT} are allowed.`;
}

/** Returns the origins of a text, separated by commas or spaces. */
export function originsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

/** Of the URL of a webhook endpoint. Some services also allow http, so the service judges that. */
export function webhookUrlFault(text: string): string | undefined {
  const url = text.trim();
  if (url === "") return undefined;
  const isRight = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isRight ? lengthFault(url, URL_MAX_LENGTH) : "Write a URL such as https://app.example/webhooks.";
}

/** Of kinds of events, separated by commas or spaces. */
export function kindsFault(text: string): string | undefined {
  const kinds = kindsIn(text);
  const wrong = kinds.find((kind) => !/^[a-z_]{1,32}\.[a-z_]{1,31}$/.test(kind));
  if (wrong !== undefined) return `“${wrong}” is no kind of events, such as sign.completed.`;
  return kinds.length <= KINDS_MAX_COUNT
    ? undefined
    : `These are ${kinds.length} kinds, and ${KINDS_MAX_COUNT} are allowed.`;
}

/** Returns the kinds of a text, separated by commas or spaces. */
export function kindsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

const URL_MAX_LENGTH = 2_048;
const KINDS_MAX_COUNT = 16;
const REFERENCE_MAX_LENGTH = 128;
const ORIGINS_MAX_COUNT = 16;
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\]|.+\.localhost)$/;
const NAME_MAX_LENGTH = 100;
const ADMIN_NAME_MAX_LENGTH = 63;
const ADDRESSES_MAX_COUNT = 64;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  if (origin !== text || hostname.includes("*")) return false;
  return protocol === "https:" || (protocol === "http:" && LOCAL_HOST.test(hostname));
}

function isAddressBlock(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0) return false;
  const isV6 = address.includes(":");
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= (isV6 ? 128 : 32))) return false;
  if (!isV6) return /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(address);
  // The browser's own parser decides about IPv6.
  return /^[0-9a-fA-F:.]+$/.test(address) && URL.canParse(`http://[${address}]/`);
}
