import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { formatMoney } from "../../format/text.ts";
import { Panel } from "../panel.tsx";
import { Badge } from "../value/badge.tsx";
import { Coin } from "../value/coin.tsx";
import { Cut } from "../value/cut.tsx";
import { Facts, Stat, Stats } from "../value/facts.tsx";
import { ChainId, CopyButton, Id } from "../value/id.tsx";
import { QrCode } from "../value/qr-code.tsx";
import { Age, Time } from "../value/time.tsx";

/** Figures, badges, ids, times, coins and names. */
export function Values(): JSX.Element {
  return (
    <Panel title="Values">
      <Stats>
        <Stat name="Balance" value={formatMoney(248_750_000n)} note="lasts 41 days at this rate" />
        <Stat name="Signatures" value="1,204" note="in the last day" />
        <Stat name="State" value={<Badge tone="good">serving</Badge>} />
        <Stat name="IKA" value={<Coin amount={1_204_123_456_789n} symbol="IKA" />} />
      </Stats>
      <div class="checks">
        <Badge tone="good">completed</Badge>
        <Badge tone="busy">queued</Badge>
        <Badge tone="warn">low</Badge>
        <Badge tone="bad">failed</Badge>
        <Badge tone="none">expired</Badge>
      </div>
      <Facts
        facts={[
          ["Id", <Id key="id" id={ID} what="dWallet id" />],
          ["Linked id", <Id key="link" id={ID} what="dWallet id" href="#" />],
          ["Whole id", <Id key="whole" id={ID} what="dWallet id" isWhole />],
          [
            "Transaction",
            <ChainId
              key="tx"
              id="8rP3sWqVxT9rLqUeZzYhVtKc5oJd7bXa"
              what="digest"
              kind="tx"
              network="testnet"
            />,
          ],
          ["Time", <Time key="time" of={timestampFromMs(AT_MS)} />],
          ["No time", <Time key="never" of={undefined} otherwise="never" />],
          ["Age", <Age key="age" of={timestampFromMs(AT_MS)} at={timestampFromMs(AT_MS + 195_000)} />],
          ["Long name", <Cut key="cut" text={"a name that is longer than its place ".repeat(6)} />],
          ["Control character", "invoice\u202efdp.exe"],
          ["To copy", <CopyButton key="copy" text="text" label="Copy the address" isLarge />],
          ["QR code", <QrCode key="qr" text={ID} label="The address as a QR code" />],
        ]}
      />
    </Panel>
  );
}

const ID = `0x${"1f".repeat(32)}`;
/** A fixed time, so that two screenshots are alike. */
const AT_MS = Date.UTC(2027, 0, 15, 12, 0, 0);
