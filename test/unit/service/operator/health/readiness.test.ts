import { expect, it } from "vitest";
import { NotChecked } from "../../../../../src/service/operator/health/checks/health-check.ts";
import { checkReadiness, readyRoute } from "../../../../../src/service/operator/health/readiness.ts";

const ok = async () => ({ status: "ok", found: "" }) as const;
const broken = async () => {
  throw new Error("secret://inside");
};
const parts = {
  database: {
    name: "database",
    advice: "",
    readiness: { isVital: true, reason: "look at the database" },
  },
  fullnode: {
    name: "fullnode",
    advice: "",
    readiness: { isVital: false, reason: "look at the fullnode" },
  },
};
const never = () => new Promise<never>(() => {});

async function ask(checks: Parameters<typeof checkReadiness>[0], isDraining = false) {
  const route = readyRoute(checkReadiness(checks, { timeoutMs: 20 }));
  const reply = await route.handle({ headers: {}, query: new URLSearchParams(), isDraining });
  return { status: reply.status, body: JSON.parse(String(reply.body)) };
}

it("a replica with all its dependencies is ready", async () => {
  expect(await ask([{ ...parts.database, look: ok }])).toEqual({
    status: 200,
    body: { status: "ready", checks: [{ name: "database", status: "ok" }] },
  });
});

it.each([
  ["fails", broken],
  ["does not answer", never],
  ["is out of reach", async () => Promise.reject(new NotChecked("elsewhere"))],
  ["is found wrong", async () => ({ status: "fail", found: "secret://inside" }) as const],
])("a replica whose database %s is not ready, and names only the part and the remedy", async (_how, look) => {
  const { status, body } = await ask([
    { ...parts.database, look },
    { ...parts.fullnode, look: ok },
  ]);
  expect([status, body.status]).toEqual([503, "unavailable"]);
  expect(body.checks).toEqual([
    { name: "database", status: "failing", reason: "look at the database" },
    { name: "fullnode", status: "ok" },
  ]);
});

it("a dependency that all replicas have lost makes none of them unready", async () => {
  const { status, body } = await ask([{ ...parts.fullnode, look: broken }]);
  expect([status, body.status]).toEqual([200, "degraded"]);
});

it("a check that does not decide readiness, or only warns, leaves a replica ready", async () => {
  const warns = async () => ({ status: "warn", found: "" }) as const;
  expect(
    await ask([
      { name: "gas", advice: "", look: broken },
      { ...parts.database, look: warns },
    ]),
  ).toEqual({ status: 200, body: { status: "ready", checks: [{ name: "database", status: "ok" }] } });
});

it("a draining replica is not ready", async () => {
  expect(await ask([{ ...parts.database, look: ok }], true)).toMatchObject({
    status: 503,
    body: { status: "draining" },
  });
});

it("concurrent requests share one run of the checks, and a later request runs them again", async () => {
  let lookCount = 0;
  let nowMs = 0;
  const look = async () => {
    lookCount++;
    return ok();
  };
  const readiness = checkReadiness([{ ...parts.database, look }], {
    freshMs: 1000,
    now: () => nowMs,
  });
  await Promise.all(Array.from({ length: 100 }, readiness));
  expect(lookCount).toBe(1);
  nowMs = 1000;
  await readiness();
  expect(lookCount).toBe(2);
});
