/** Where a Redis is: one server, a primary that Sentinels name, or a Cluster. */
export interface RedisAddress {
  readonly kind: "server" | "sentinel" | "cluster";
  /** The server, the Sentinels, or some nodes of the Cluster, in the order in which they are tried. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The name under which the Sentinels know the primary. */
  readonly primaryName: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The password of the Sentinels themselves. */
  readonly sentinelPassword: string | undefined;
  /** The number of the database. A Cluster has only number 0. */
  readonly database: number;
  readonly isTls: boolean;
}

/** What `REDIS_URL` may be, for the message about one that is not. */
export const REDIS_URL_FORMS =
  "redis://host:port, redis+sentinel://host:port,host:port/primary or redis+cluster://host:port,host:port (rediss for TLS)";

/**
 * Reads a URL of Redis: `redis://user:password@host:6379/0`,
 * `redis+sentinel://user:password@host:26379,host:26379/primary/0?sentinelPassword=...` or
 * `redis+cluster://user:password@host:6379,host:6379`, each with `rediss` for TLS. Names and passwords are
 * percent-encoded; an IPv6 address is in brackets. Returns undefined for anything else.
 *
 * @example parseRedisUrl("redis+sentinel://:secret@s1,s2:26380/tss")?.hosts[0] // { host: "s1", port: 26379 }
 */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  const parts = URL_PARTS.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const kind = (parts["kind"] ?? "server") as RedisAddress["kind"];
  const places = parts["hosts"]!.split(",");
  const usualPort = kind === "sentinel" ? SENTINEL_PORT : SERVER_PORT;
  const hosts = places.map((place) => parseHost(place, usualPort));
  const path = (parts["path"] ?? "").split("/").map(decode);
  const primaryName = kind === "sentinel" ? path.shift() : undefined;
  const [number = "", ...more] = path;
  const query = new URLSearchParams(parts["query"] ?? "");
  const [username, password] = [decode(parts["username"] ?? ""), decode(parts["password"] ?? "")];
  const isWhole =
    hosts.every((host) => host !== undefined) &&
    (kind !== "server" || hosts.length === 1) &&
    (kind !== "sentinel" || (primaryName !== undefined && primaryName !== "")) &&
    /^\d{0,5}$/.test(number) &&
    more.length === 0 &&
    (kind !== "cluster" || Number(number) === 0) &&
    [...query.keys()].every((name) => kind === "sentinel" && name === "sentinelPassword");
  if (!isWhole || username === undefined || password === undefined) return undefined;
  return {
    kind,
    hosts: hosts as RedisAddress["hosts"],
    primaryName,
    username: username || undefined,
    password: password || undefined,
    sentinelPassword: query.get("sentinelPassword") || undefined,
    database: Number(number),
    isTls: parts["tls"] === "s",
  };
}

const SERVER_PORT = 6379;
const SENTINEL_PORT = 26_379;

const URL_PARTS =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<username>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;

function parseHost(place: string, usualPort: number): RedisAddress["hosts"][number] | undefined {
  // A URL's parser knows names, addresses and brackets.
  const url = URL.canParse(`http://${place}`) ? new URL(`http://${place}`) : undefined;
  if (url === undefined || url.hostname === "" || url.pathname !== "/") return undefined;
  const port = /:(\d+)$/.exec(place)?.[1];
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: port === undefined ? usualPort : Number(port) };
}

/** Returns undefined for a percent sign that encodes nothing. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
