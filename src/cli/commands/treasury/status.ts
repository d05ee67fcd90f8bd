import { command, EXIT } from "../../command-line/command.ts";
import { flag } from "../../command-line/option.ts";
import { TARGET_OPTIONS } from "../../treasury/change-options.ts";

export const treasuryStatusCommand = command({
  summary: "show the Treasury on the chain: balances, ceilings, operators, roles, announcements",
  details:
    "Queries only a fullnode, neither the service nor its database. Warnings do not change the exit code.",
  options: { ...TARGET_OPTIONS, json: flag("print a JSON object") },
  async run({ json, ...target }, context) {
    const { openTreasury } = await import("../../treasury/open-treasury.ts");
    const { readStatus } = await import("../../treasury/treasury-status.ts");
    const { describeStatus, warningsOf } = await import("../../treasury/treasury-status.ts");
    const status = await readStatus(await openTreasury(target, context));
    const warnings = warningsOf(status);
    if (json) {
      const asText = (_key: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
      context.print(JSON.stringify({ ...status, warnings }, asText, 2));
    } else
      context.print([describeStatus(status), ...warnings.map((text) => `WARNING: ${text}`)].join("\n\n"));
    return EXIT.done;
  },
});
