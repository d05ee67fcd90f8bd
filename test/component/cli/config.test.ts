import { describe, expect, it } from "vitest";
import { runTss } from "../../support/service/service.ts";

async function run(argv: readonly string[], environment: Record<string, string>) {
  const child = runTss(["config", ...argv], environment);
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, printed };
}

describe("tss config", () => {
  it("prints the table and exits with 0, or reports every fault and exits with 1", {
    timeout: 60_000,
  }, async () => {
    const [good, bad] = await Promise.all([run([], {}), run([], { PORT: "http", HOST: "0.0.0.0" })]);
    expect(good.code).toBe(0);
    expect(good.printed).toMatch(/^HOST +127\.0\.0\.1 +default/);
    expect(bad.code).toBe(1);
    expect(bad.printed).toMatch(/^PORT +http +environment/m);
    expect(bad.printed).toMatch(/faults:\n(?: {2}- (?:PORT|HOST): expected.*\n){2}/);
  });

  it("prints the same as JSON for scripts", { timeout: 60_000 }, async () => {
    const key = "k".repeat(40);
    const { code, printed } = await run(["--json"], { PORT: "http", ADMIN_API_KEY: key, NETWORK: "x" });
    expect(code).toBe(1);
    expect(printed).not.toContain(key);
    const { variables, faults, warnings } = JSON.parse(printed);
    expect(variables).toContainEqual(
      expect.objectContaining({
        name: "ADMIN_API_KEY",
        value: "[redacted]",
        source: "environment",
        isSecret: true,
      }),
    );
    expect(faults).toHaveLength(1);
    expect(warnings).toHaveLength(1);
  });
});
