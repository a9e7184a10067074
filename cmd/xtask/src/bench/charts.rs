//! Helm charts of any size.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::{
    Bench,
    figures::Programs,
    steps::{BenchRun, BenchStep, measure},
    table::{self, BenchRow},
    target::BenchTarget,
};
use crate::print::print_line;

/// The templates and subcharts of the smaller chart; the larger one has twice as many.
const SMALL: (usize, usize) = (500, 25);

/// A template of an object that uses the values of its chart and a named template.
const TEMPLATE: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include \"part.name\" . }}-AT
  labels: {{- include \"part.labels\" . | nindent 4 }}
data:
{{- range $key, $value := .Values.settings }}
  {{ $key }}: {{ tpl $value $ | quote }}
{{- end }}
  limits: {{ toYaml .Values.limits | nindent 4 | quote }}
";

const HELPERS: &str = "\
{{- define \"part.name\" -}}{{ printf \"%s-%s\" .Release.Name .Chart.Name | trunc 40 | trimSuffix \"-\" }}{{- end }}
{{- define \"part.labels\" -}}
app.kubernetes.io/name: {{ include \"part.name\" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
";

const VALUES: &str = "\
settings: {a: 'x', b: '{{ .Release.Namespace }}', c: '{{ .Values.limits.cpu }}'}
limits: {cpu: 1, memory: 2Gi}
";

/// Measures charts of two sizes beside helm, if it is on the PATH.
pub(super) fn charts(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let reference = super::find_on_path("helm");
    let programs = Programs { capstan: programs.capstan.clone(), reference };
    let mut rows: Vec<BenchRow> = Vec::new();
    for (templates, subcharts) in [SMALL, (SMALL.0 * 2, SMALL.1 * 2)] {
        let chart = create_chart(&folder.join(format!("chart-{templates}")), templates, subcharts)?;
        let mut targets = vec![BenchTarget::CpuShare(12), BenchTarget::MemoryShare(4)];
        let baseline = rows.first().map(|row| row.capstan);
        targets.extend(baseline.map(|_| BenchTarget::DoubleBaseline));
        let name = format!("chart of {templates} templates in {subcharts} subcharts");
        let step =
            BenchStep::two_commands(name, "chart template web {chart}", "template web {chart}", targets);
        let world = |_| Ok(BenchRun::new(folder)?.with_value("{chart}", chart.display()));
        let measured = measure(&programs, bench.runs, vec![step], world)?.remove(0);
        rows.push(BenchRow { baseline, ..measured });
    }
    print_line(&table::render(&rows));
    Ok(())
}

/// Writes a chart whose templates are in its subcharts.
fn create_chart(folder: &Path, templates: usize, subcharts: usize) -> Result<PathBuf> {
    let metadata = |name: &str| format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\nappVersion: '1.0'\n");
    let mut parent = metadata("web");
    parent.push_str("dependencies:\n");
    for subchart in 0..subcharts {
        let name = format!("part-{subchart}");
        writeln!(parent, "- {{name: {name}, version: 1.0.0, condition: {name}.enabled}}")?;
        let inner = folder.join("charts").join(&name);
        fs::create_dir_all(inner.join("templates"))?;
        fs::write(inner.join("Chart.yaml"), metadata(&name))?;
        fs::write(inner.join("values.yaml"), VALUES)?;
        fs::write(inner.join("templates/_helpers.tpl"), HELPERS)?;
        for at in 0..templates / subcharts {
            let template = TEMPLATE.replace("AT", &at.to_string());
            fs::write(inner.join(format!("templates/{at}.yaml")), template)?;
        }
    }
    fs::write(folder.join("Chart.yaml"), parent)?;
    Ok(folder.to_owned())
}
