import { Secret } from "../platform/telemetry/secret.ts";
import type { ConfigReader } from "./reader.ts";
import { PYTH_URL } from "./variables/billing-variables.ts";
import type { VariableName } from "./variables.ts";

/** Reads the settings of the price sources. Undefined without any source. */
export function readPriceSources(read: ConfigReader<VariableName>): PriceSourcesConfig | undefined {
  const feedUrl = protectedUrl(read, "BILLING_PRICE_FEED_URL");
  const all = {
    pyth: {
      url: protectedUrl(read, "BILLING_PYTH_URL") ?? new Secret(PYTH_URL),
      apiKey: read.secret("BILLING_PYTH_API_KEY", /^[!-~]{1,500}$/, "a key without spaces"),
      feedIds: lowerCase(
        readByCoin(read, "BILLING_PYTH_FEEDS", /^(?:0x)?([0-9a-fA-F]{64})$/, "a feed id of 64 hex digits"),
      ),
    },
    coinbase: {
      url: read.text("BILLING_COINBASE_URL"),
      products: readByCoin(
        read,
        "BILLING_COINBASE_PRODUCTS",
        /^([A-Z0-9]{1,20}-USD)$/,
        "a product like SUI-USD",
      ),
    },
    feed: feedUrl && { url: feedUrl },
    refreshMs: 1000 * read.integer("BILLING_PRICE_REFRESH_SECONDS", 1, 3_600),
    maxAgeMs: 1000 * read.integer("BILLING_PRICE_MAX_AGE_SECONDS", 1, 86_400),
    maxSpreadPercent: read.integer("BILLING_PRICE_MAX_SPREAD_PERCENT", 1, 100),
    maxStepPercent: read.integer("BILLING_PRICE_MAX_STEP_PERCENT", 1, 1_000),
    maxHourPercent: read.integer("BILLING_PRICE_MAX_HOUR_PERCENT", 1, 1_000),
    maxDayPercent: read.integer("BILLING_PRICE_MAX_DAY_PERCENT", 1, 1_000),
  };
  if (read.publicUrl("BILLING_COINBASE_URL") !== undefined && !isProtected(all.coinbase.url))
    read.fault("BILLING_COINBASE_URL", all.coinbase.url, PROTECTED_URL);
  const given = read.list("BILLING_PRICE_SOURCES");
  const names = given.length > 0 ? given : feedUrl === undefined ? [] : ["feed"];
  for (const [index, name] of names.entries()) {
    if (!SOURCE_NAMES.includes(name) || names.indexOf(name) < index)
      read.fault("BILLING_PRICE_SOURCES", name, `each of ${SOURCE_NAMES.join(", ")} at most once`);
  }
  if (names.includes("feed") && feedUrl === undefined)
    read.fault("BILLING_PRICE_FEED_URL", undefined, "the URL of the source feed");
  if (names.length === 0) return undefined;
  return {
    ...all,
    pyth: names.includes("pyth") ? all.pyth : undefined,
    coinbase: names.includes("coinbase") ? all.coinbase : undefined,
    feed: names.includes("feed") ? all.feed : undefined,
  };
}

/** The sources, of which at least one is set. URLs are secrets, because they may hold a key. */
export interface PriceSourcesConfig {
  readonly pyth: PythConfig | undefined;
  readonly coinbase: CoinbaseConfig | undefined;
  readonly feed: { readonly url: Secret } | undefined;
  readonly refreshMs: number;
  readonly maxAgeMs: number;
  readonly maxSpreadPercent: number;
  readonly maxStepPercent: number;
  readonly maxHourPercent: number;
  readonly maxDayPercent: number;
}

interface PythConfig {
  readonly url: Secret;
  readonly apiKey: Secret | undefined;
  /** 64 hex digits in lower case, by coin. */
  readonly feedIds: ReadonlyMap<string, string>;
}

interface CoinbaseConfig {
  readonly url: string;
  /** The products by coin. */
  readonly products: ReadonlyMap<string, string>;
}

const SOURCE_NAMES = ["pyth", "coinbase", "feed"];
const PROTECTED_URL = "an https URL, or http on this machine";

function protectedUrl(read: ConfigReader<VariableName>, name: VariableName): Secret | undefined {
  const url = read.secretUrl(name, /^https?:\/\//, "an http(s) URL");
  if (url !== undefined && !isProtected(url.reveal())) read.secretFault(name, url.reveal(), PROTECTED_URL);
  return url;
}

/** Reads pairs like `SUI=value`, with each coin at most once. The pattern's first group is the value. */
function readByCoin(
  read: ConfigReader<VariableName>,
  name: VariableName,
  pattern: RegExp,
  expected: string,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const item of read.list(name)) {
    const [, coin = "", text = ""] = /^(SUI|IKA)\s*=\s*(\S+)$/.exec(item) ?? [];
    const value = pattern.exec(text)?.[1];
    if (value === undefined || values.has(coin))
      read.fault(name, item, `SUI and IKA at most once, each with ${expected}`);
    else values.set(coin, value);
  }
  return values;
}

const lowerCase = (values: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...values].map(([name, value]) => [name, value.toLowerCase()]));

function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
