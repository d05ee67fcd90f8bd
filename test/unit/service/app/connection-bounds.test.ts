import { expect, it } from "vitest";
import { connectionBounds } from "../../../../src/service/app/servers.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { silentLog } from "../../../support/silent-log.ts";

it("a port has the configured limits of connections, trusts the configured proxies, and logs its refusals", () => {
  const config = loadConfig({
    MAX_CONNECTIONS: "20",
    MAX_CONNECTIONS_PER_ADDRESS: "0",
    TRUSTED_PROXIES: "10.0.0.0/8",
  });
  const lines: unknown[] = [];
  const bounds = connectionBounds(config, {
    ...silentLog,
    warn: (...line: unknown[]) => lines.push(line),
  });
  expect(bounds.limits).toEqual({ connectionsCount: 20, connectionsPerAddressCount: 0 });
  expect(["10.1.2.3", "192.0.2.1"].map((address) => bounds.isTrustedPeer?.(address))).toEqual([true, false]);
  bounds.onConnectionRefused?.("192.0.2.1");
  expect(lines).toEqual([[{ address: "192.0.2.1" }, expect.stringContaining("MAX_CONNECTIONS_PER_ADDRESS")]]);
});
