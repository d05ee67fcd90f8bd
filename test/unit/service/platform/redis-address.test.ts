import { describe, expect, it } from "vitest";
import { parseRedisUrl } from "../../../../src/service/platform/coordination/redis-address.ts";

const NONE = {
  primaryName: undefined,
  username: undefined,
  password: undefined,
  sentinelPassword: undefined,
};

describe("a URL of Redis", () => {
  it.each([
    ["redis://cache", { kind: "server", hosts: [{ host: "cache", port: 6379 }], database: 0, isTls: false }],
    [
      "rediss://cache:6380/3",
      { kind: "server", hosts: [{ host: "cache", port: 6380 }], database: 3, isTls: true },
    ],
    [
      "redis://[::1]:7000/",
      { kind: "server", hosts: [{ host: "::1", port: 7000 }], database: 0, isTls: false },
    ],
    [
      "redis+sentinel://a,b:26380/tss",
      {
        kind: "sentinel",
        hosts: [
          { host: "a", port: 26379 },
          { host: "b", port: 26380 },
        ],
        primaryName: "tss",
        database: 0,
        isTls: false,
      },
    ],
    [
      "rediss+cluster://a:7001,b",
      {
        kind: "cluster",
        hosts: [
          { host: "a", port: 7001 },
          { host: "b", port: 6379 },
        ],
        database: 0,
        isTls: true,
      },
    ],
  ] as const)("is read: %s", (url, address) => {
    expect(parseRedisUrl(url)).toEqual({ ...NONE, ...address });
  });

  it("has a name and passwords that are percent-encoded", () => {
    const url = "redis+sentinel://us%40er:p%2Fw@a/my%20primary/2?sentinelPassword=s%26p";
    expect(parseRedisUrl(url)).toMatchObject({
      username: "us@er",
      password: "p/w",
      primaryName: "my primary",
      sentinelPassword: "s&p",
      database: 2,
    });
    expect(parseRedisUrl("redis://:only@a")).toMatchObject({ username: undefined, password: "only" });
  });

  it.each([
    "",
    "http://cache",
    "redis://",
    "redis://a,b",
    "redis://:won/der@cache",
    "redis://:%zz@cache",
    "redis://cache:99999",
    "redis://cache/one",
    "redis://cache/0/1",
    "redis://cache?sentinelPassword=x",
    "redis+sentinel://a,b",
    "redis+sentinel://a,,b/tss",
    "redis+sentinel://a/tss?password=x",
    "redis+cluster://a/1",
    "redis+other://a",
  ])("is refused: %s", (url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });
});
