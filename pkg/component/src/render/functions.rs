//! The functions of templates that need the request: its files, its names, its clusters.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use chart::{Capabilities, ObjectQuery, compile_glob, object_value};
use kustomize::check_label_selector;
use serde_json::Value as Json;
use template::{
    Arguments as _, Elem, Engine, Fault, Function, Functions, List, Map, Signature, Str, Type, Value,
};

use super::cluster::{ClusterReader, LookupCluster};
use super::go_struct;
use super::request::RenderRequest;

/// The facts of a request that functions return.
pub(super) struct Host {
    files: BTreeMap<Str, Str>,
    name: String,
    namespace: String,
    digest: String,
    revision: i64,
    component: Json,
    capabilities: Capabilities,
    cluster: Option<Arc<dyn ClusterReader>>,
}

impl Host {
    /// Creates the facts of a request. `files` are the files that templates read, by path.
    pub(super) fn new(request: &RenderRequest<'_>, files: BTreeMap<Str, Str>) -> Self {
        Self {
            files,
            name: request.name.to_owned(),
            namespace: request.namespace.to_owned(),
            digest: request.digest.to_owned(),
            revision: request.revision,
            component: request.component.clone(),
            capabilities: request.capabilities.clone(),
            cluster: request.cluster.clone(),
        }
    }
}

/// Returns the functions of charts.
pub(super) fn chart() -> Arc<Functions> {
    static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| {
        let mut functions = Functions::component();
        add_lookups(&mut functions);
        Arc::new(functions)
    });
    FUNCTIONS.clone()
}

/// Returns the functions of kustomizations.
pub(super) fn kustomization() -> Arc<Functions> {
    static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| {
        let mut functions = Functions::component();
        add_lookups(&mut functions);
        for (name, parameters, body) in ROWS {
            add(&mut functions, name, parameters, *body);
        }
        Arc::new(functions)
    });
    FUNCTIONS.clone()
}

type Result<T> = std::result::Result<T, Fault>;
type Body = fn(&Host, &[Value]) -> Result<Value>;

const ROWS: &[(&str, &[Type], Body)] = &[
    ("listFiles", &[Type::String], list_files),
    ("existsFile", &[Type::String], |host, args| Ok(host.files.contains_key(args.text(0)).into())),
    ("readFile", &[Type::String], read_file),
    ("name", &[], |host, _| Ok(host.name.as_str().into())),
    ("namespace", &[], |host, _| Ok(host.namespace.as_str().into())),
    ("componentDigest", &[], |host, _| Ok(host.digest.as_str().into())),
    ("componentRevision", &[], |host, _| Ok(Value::Int64(host.revision))),
    ("component", &[], |host, _| Ok(go_struct::component(&host.component, host.revision))),
    ("kubernetesVersion", &[], |host, _| Ok(go_struct::kubernetes_version(&host.capabilities))),
    ("apiResources", &[], |host, _| Ok(go_struct::api_resources(&host.capabilities))),
];

/// Adds a function that needs the facts of the request.
fn add(
    functions: &mut Functions,
    name: &str,
    parameters: &[Type],
    body: impl Fn(&Host, &[Value]) -> Result<Value> + Send + Sync + 'static,
) {
    let body = move |run: &mut dyn Engine, args: &[Value]| {
        let host: Option<Rc<Host>> = run.session().host();
        host.map_or_else(|| Err(Fault::new("not available here")), |host| body(&host, args))
    };
    functions.insert(Function::new(name, Signature::new(parameters), body));
}

fn list_files(host: &Host, args: &[Value]) -> Result<Value> {
    let pattern = args.utf8(0);
    let pattern = compile_glob(&pattern).ok_or_else(|| format!("invalid pattern {pattern:?}"))?;
    let matching = host.files.keys().filter(|path| pattern.is_match(&path.to_str()));
    Ok(Value::strings(matching.cloned()))
}

fn read_file(host: &Host, args: &[Value]) -> Result<Value> {
    match host.files.get(args.text(0)) {
        Some(content) => Ok(Value::List(List::bytes(content.clone()))),
        None => Err(format!("file {:?} does not exist", args.utf8(0)).into()),
    }
}

/// Adds `lookup` and its variants.
fn add_lookups(functions: &mut Functions) {
    add_lookup(functions, ["lookup", "mustLookup", "lookupList"], 4, |_| LookupCluster::Target);
    add_lookup(functions, ["localLookup", "mustLocalLookup", "localLookupList"], 4, |_| LookupCluster::Local);
    let names = ["lookupWithKubeConfig", "mustLookupWithKubeConfig", "lookupListWithKubeConfig"];
    add_lookup(functions, names, 5, |text| LookupCluster::KubeConfig(text));
}

/// Adds the functions for one cluster: for an object, for an object that must exist, for a list. The fifth argument, if
/// there is one, selects the cluster.
fn add_lookup(
    functions: &mut Functions,
    [lookup, must_lookup, list]: [&str; 3],
    parameters: usize,
    cluster: fn(&str) -> LookupCluster<'_>,
) {
    let parameters = vec![Type::String; parameters];
    add(functions, lookup, &parameters, move |host, args| {
        Ok(get(host, cluster(&args.utf8(4)), args)?.unwrap_or_else(|| Value::Map(Map::default())))
    });
    add(functions, must_lookup, &parameters, move |host, args| {
        let found = get(host, cluster(&args.utf8(4)), args)?;
        Ok(found.ok_or_else(|| format!("{} {:?} not found", args.utf8(1), args.utf8(3)))?)
    });
    add(functions, list, &parameters, move |host, args| objects(host, cluster(&args.utf8(4)), args));
}

fn get(host: &Host, cluster: LookupCluster<'_>, args: &[Value]) -> Result<Option<Value>> {
    let Some(reader) = &host.cluster else { return Ok(None) };
    let found = with_query(args, |query| reader.cluster(cluster)?.get(query))?;
    Ok(found.as_ref().map(object_value))
}

fn objects(host: &Host, cluster: LookupCluster<'_>, args: &[Value]) -> Result<Value> {
    check_label_selector(&args.utf8(3)).map_err(|error| error.to_string())?;
    let found = match &host.cluster {
        Some(reader) => with_query(args, |query| reader.cluster(cluster)?.list(query))?,
        None => Vec::new(),
    };
    Ok(Value::List(List::new(Elem::Map, found.iter().map(object_value).collect())))
}

fn with_query<T>(
    args: &[Value],
    ask: impl FnOnce(&ObjectQuery<'_>) -> std::result::Result<T, String>,
) -> Result<T> {
    let [api_version, kind, namespace, selector] = [0, 1, 2, 3].map(|index| args.utf8(index));
    let query =
        ObjectQuery { api_version: &api_version, kind: &kind, namespace: &namespace, selector: &selector };
    Ok(ask(&query)?)
}
