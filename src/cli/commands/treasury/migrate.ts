import { changeCommand, oneCall } from "../../treasury/change-command.ts";

/** `tss treasury migrate`. */
export const migrateTreasuryCommand = changeCommand({
  summary: "move the Treasury to the newest version of its package, after an upgrade",
  details: "--package is the id of the new version. From then on every call of the version before aborts.",
  options: {},
  plan: (_values, { name, packageId }) =>
    oneCall(
      "migrate",
      {},
      `Set SERVICECORE_${name.toUpperCase()}_PACKAGE_ID=${packageId} and restart the service.`,
    ),
});
