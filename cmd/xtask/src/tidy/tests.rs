use super::*;

fn assert_no_fault(findings: Vec<Finding>) {
    let faults: Vec<_> =
        findings.into_iter().filter(|finding| finding.is_fault).map(|f| f.to_string()).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_house_is_tidy() {
    let workspace = Workspace::read().unwrap();
    assert_no_fault(RULES.iter().flat_map(|rule| rule(&workspace)).collect());
}

#[test]
fn what_the_project_is_built_from_may_be_used() {
    assert_no_fault(dependencies::check(&Workspace::read().unwrap()).unwrap());
}
