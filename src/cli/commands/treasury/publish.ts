import { packageDigest } from "../../../localnet/contracts/treasury/treasury-package.ts";
import { readPrices } from "../../../service/chain/treasury/read-prices.ts";
import { command } from "../../command-line/command.ts";
import { optional } from "../../command-line/option.ts";
import { CHANGE_OPTIONS, fullAddress } from "../../treasury/change-options.ts";
import { configurationLines } from "../../treasury/open-treasury.ts";

const { treasury: _treasury, package: _package, adminCap: _adminCap, ...OPTIONS } = CHANGE_OPTIONS;

export const publishCommand = command({
  summary: "publish the Treasury's package, which creates a Treasury and gives you its AdminCap",
  details:
    "The compiled modules are part of this version of tss; `npm run move:check` proves that they match the sources.\n" +
    "The sender receives the AdminCap. The UpgradeCap decides who can change the code: see docs/treasury.md.",
  options: {
    upgradeCapTo: optional("<address>", "who receives the UpgradeCap; default the sender", fullAddress),
    ...OPTIONS,
  },
  async run(values, context) {
    const { chooseSigner } = await import("../../treasury/key-files.ts");
    const { openTreasuryChain } = await import("../../treasury/open-treasury-chain.ts");
    const { packageFor, reviewSubject } = await import("../../treasury/open-treasury.ts");
    const { runChange } = await import("../../treasury/run-change.ts");
    const given = { ...values, treasury: undefined, package: undefined, adminCap: undefined };
    const signer = chooseSigner(given);
    const chain = await openTreasuryChain(given, context);
    const { name, client, ikaConfig } = chain;
    const { modules, dependencies } = packageFor(chain);
    const { packageId } = await readPrices(client, ikaConfig.objects.ikaDWalletCoordinator.objectID);
    if (!dependencies.includes(packageId))
      throw new Error(
        `Ika's coordinator has moved to the package ${packageId}, which this version of the Treasury is not linked to: its calls would abort. Use a newer version of tss`,
      );
    context.print(
      `The package has ${modules.length} modules and the digest ${packageDigest({ modules, dependencies })}.\n`,
    );
    await runChange({
      chain,
      subject: { ...reviewSubject(chain), treasuryId: undefined },
      context,
      values: given,
      signer,
      holder: undefined,
      add(tx, sender) {
        const upgradeCap = tx.publish({ modules: [...modules], dependencies: [...dependencies] });
        tx.transferObjects([upgradeCap], values.upgradeCapTo ?? sender);
      },
      next({ created }) {
        const idOf = (type: string) => created.find((object) => object.type.endsWith(type))?.id ?? "unknown";
        const [packageId, treasuryId] = [idOf("package"), idOf("::Treasury")];
        return [
          ...configurationLines(name, {
            packageId,
            treasuryId,
            operatorCapIds: "<printed by `tss treasury init`>",
          }),
          `\nNext: tss treasury init --network ${name} --treasury ${treasuryId} --holder <hot wallet>`,
        ];
      },
    });
  },
});
