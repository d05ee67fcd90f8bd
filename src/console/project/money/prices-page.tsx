import type { JSX } from "preact";
import type { SignPrice } from "../../../../gen/client/tss/v1/billing_pb.ts";
import { SignatureAlgorithmSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { enumName, formatMoney } from "../../format/text.ts";

/** What the service charges. */
export function PricesPage(): JSX.Element {
  const { billing } = useSession();
  const pricing = useCall((signal) => billing.getPricing({}, { signal }), []);
  return (
    <PageFrame
      title="Prices"
      lead="The price at the time of the request counts. A signature that fails is refunded."
    >
      <Loaded call={pricing} lines={6}>
        {(prices) => (
          <>
            <section class="panel" aria-label="General prices">
              <Stats>
                <Stat
                  name="One dWallet"
                  value={formatMoney(prices.dkgPriceMicroUsd)}
                  note="with its share accepted"
                />
                <Stat
                  name="One held half"
                  value={formatMoney(prices.holdPriceMicroUsd)}
                  note="beside its signature"
                />
                <Stat
                  name="One share"
                  value={formatMoney(prices.sharePriceMicroUsd)}
                  note="of a dWallet, for another user"
                />
                <Stat
                  name="One imported key"
                  value={formatMoney(prices.importPriceMicroUsd)}
                  note="with its share accepted"
                />
                <Stat
                  name="One signature"
                  value={formatMoney(prices.signPriceMicroUsd)}
                  note={`with a message of up to ${prices.includedMessageBytes.toLocaleString("en")} bytes`}
                />
                <Stat
                  name="Each further KiB"
                  value={formatMoney(prices.messageKibPriceMicroUsd)}
                  note="1,024 bytes of the message, or part of them"
                />
              </Stats>
            </section>
            <Panel title="Signatures by algorithm">
              <DataTable
                caption="Price of a signature by algorithm"
                columns={COLUMNS}
                rows={prices.signPrices}
                rowKey={({ signatureAlgorithm }) => `${signatureAlgorithm}`}
                empty={<p class="muted">Every algorithm has the price above.</p>}
              />
            </Panel>
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

const COLUMNS: readonly DataColumn<SignPrice>[] = [
  {
    title: "Algorithm",
    cell: ({ signatureAlgorithm }) => enumName(SignatureAlgorithmSchema, signatureAlgorithm),
  },
  { title: "Price", isNumber: true, cell: ({ priceMicroUsd }) => formatMoney(priceMicroUsd) },
];
