//! Compares capstan with what its peers print; the cases are data outside the project.
