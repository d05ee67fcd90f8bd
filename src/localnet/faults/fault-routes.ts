import type { JsonRoute } from "../fullnode/wire/server.ts";
import type { ChainControls } from "./chain-controls.ts";
import { FaultSettingsError, parseFaultSettings } from "./fault-settings.ts";
import type { Faults } from "./faults.ts";

/**
 * Returns the routes of the localnet's own HTTP API. `GET /localnet/faults` shows the fault settings and `POST` changes
 * them. `POST /localnet/advance-epoch`, `/localnet/rotate-network-key`, `/localnet/prices` with `{percent}` and
 * `/localnet/treasury` with `{ika, sui}` change the chain. No route requires authentication.
 */
export function faultRoutes(faults: Faults, controls: ChainControls): readonly JsonRoute[] {
  return [
    { method: "GET", path: "/localnet/faults", handle: async () => ok(faults.settings) },
    post("/localnet/faults", async (body) => {
      faults.set(parseFaultSettings(body));
      return faults.settings;
    }),
    post("/localnet/advance-epoch", async () => ({ epoch: String(await controls.advanceEpoch()) })),
    post("/localnet/rotate-network-key", async () => ({
      networkEncryptionKeyId: await controls.rotateNetworkKey(),
    })),
    post("/localnet/prices", async ({ percent }) => {
      if (typeof percent !== "number" || !Number.isInteger(percent) || percent < 0)
        throw new FaultSettingsError("percent must be an integer from 0");
      await controls.scalePrices(percent);
      return { percent };
    }),
    post("/localnet/treasury", async ({ ika, sui }) => {
      const balances = { ika: amount("ika", ika), sui: amount("sui", sui) };
      await controls.setTreasury(balances);
      return { ika: String(balances.ika), sui: String(balances.sui) };
    }),
  ];
}

type Handle = (body: Record<string, unknown>) => Promise<object>;

function post(path: string, handle: Handle): JsonRoute {
  return {
    method: "POST",
    path,
    async handle(body) {
      try {
        return ok(await handle(parse(body)));
      } catch (error) {
        if (!(error instanceof FaultSettingsError)) throw error;
        return { status: 400, json: { error: error.message } };
      }
    },
  };
}

const ok = (json: object) => ({ status: 200, json });

function parse(body: Uint8Array): Record<string, unknown> {
  if (body.length === 0) return {};
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof json === "object" && json !== null) return json as Record<string, unknown>;
  } catch {
    // Falls through to the common error for a malformed body.
  }
  throw new FaultSettingsError("the body must be a JSON object");
}

/** Amounts are decimal strings, because JSON has no 64-bit integers. */
function amount(name: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^\d{1,20}$/.test(value) || BigInt(value) >= 2n ** 64n)
    throw new FaultSettingsError(`${name} must be an amount in the smallest units, as decimal text`);
  return BigInt(value);
}
