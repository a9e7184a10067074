use super::*;

fn assert_no_fault(findings: Vec<Finding>) {
    let faults: Vec<_> =
        findings.into_iter().filter(|finding| finding.is_fault).map(|f| f.to_string()).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_workspace_is_tidy() {
    let workspace = Workspace::read().unwrap();
    assert_no_fault(RULES.iter().flat_map(|rule| rule(&workspace)).collect());
}

#[test]
fn all_dependency_licences_are_allowed() {
    assert_no_fault(dependencies::check(&Workspace::read().unwrap()).unwrap());
}
