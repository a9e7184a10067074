// Prints the layout of the data for the test. The layout script of the page precedes this script.
const { graph, parents } = JSON.parse(require("fs").readFileSync(0, "utf8"));
graph.objects.forEach(({ object }) => { object.namespace = object.namespace || ""; });
const children = childrenOf(graph, parents);
const unfolded = new Set(process.argv.includes("unfolded") ? foldKeys(graph, children).filter((key) => key !== null) : []);
const layout = layOut(graph, parents, children, unfolded);
const { frames, clusters } = layout;
const rectangle = ({ x, y, width, height }) => ({ x, y, width, height });
const titles = [0.02, 0.1, 0.18, 0.3, 1, 3].flatMap((scale) => [...frames, ...clusters].map((frame) => {
  const { size, name } = titleAt(frame, scale, scale < 0.2);
  return { scale, name, right: FRAME.pad / 2 + name.length * size * TITLE.letter, width: frame.width };
}));
process.stdout.write(JSON.stringify({
  boxes: layout.items.map((item) => ({ x: item.x, y: item.y, ...BOX })),
  frames: frames.map((frame) => ({ title: frame.title, ...rectangle(frame) })),
  clusters: clusters.map((frame) => ({ title: frame.title, ...rectangle(frame) })),
  titles,
  listed: ranking(graph.objects).map((at) => graph.objects[at].object.kind + " " + graph.objects[at].object.name),
}));
