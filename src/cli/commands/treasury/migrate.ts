import { changeCommand, oneCall } from "../../treasury/change-command.ts";

export const migrateTreasuryCommand = changeCommand({
  summary: "move the Treasury to the newest version of its package, after an upgrade",
  details: "--package is the id of the new version. Afterwards every call of the previous version aborts.",
  options: {},
  plan: (_values, { name, packageId }) =>
    oneCall(
      "migrate",
      {},
      `Set SERVICECORE_${name.toUpperCase()}_PACKAGE_ID=${packageId} and restart the service.`,
    ),
});
