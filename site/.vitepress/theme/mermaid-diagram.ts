import { useData } from "vitepress";
import { defineComponent, h, onMounted, ref, watch } from "vue";

let count = 0;

/** A diagram shrinks to this width, and then scrolls, so that its words stay readable. */
const NARROWEST = 600;

/** A diagram in the theme of the page. Without scripts the page shows its source. */
export const MermaidDiagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const source = decodeURIComponent(props.code);
    const svg = ref("");
    const minWidth = ref("0");
    const render = async () => {
      const { default: mermaid } = await import("mermaid");
      mermaid.initialize({
        startOnLoad: false,
        theme: isDark.value ? "dark" : "neutral",
        fontFamily: "inherit",
        // The page's background, behind the words on a line.
        themeVariables: { edgeLabelBackground: isDark.value ? "#1b1b1f" : "#ffffff" },
      });
      const { svg: text } = await mermaid.render(`diagram-${count++}`, source);
      const [, width = "0"] = /viewBox="\S+ \S+ ([\d.]+)/.exec(text) ?? [];
      minWidth.value = `${Math.min(Number(width), NARROWEST)}px`;
      svg.value = text;
    };
    onMounted(render);
    watch(isDark, render);
    return () =>
      svg.value === ""
        ? h("pre", { class: "diagram" }, source)
        : h(
            "div",
            { class: "diagram" },
            h("div", { style: { minWidth: minWidth.value }, innerHTML: svg.value }),
          );
  },
});
